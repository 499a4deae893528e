// Wide loads and stores of pixels, as kernel text.
#pragma once

#include <string>

#include "core/image.hpp"

namespace impipe::jit {

// Text that loads (stores) `count` elements between `memory` + offset and `array` + offset, whose
// place in memory is a multiple of the largest power of two (at most `widest`) that divides
// `count` * bytes and `offset` * bytes.
std::string wide_load(PixelClass cls, const std::string& memory, const std::string& array,
                      int offset, int count, int widest);
std::string wide_store(PixelClass cls, const std::string& memory, const std::string& array,
                       int count, int widest);

// Loads or stores bytes [first, last) of `memory`, which is at a multiple of `period` bytes, as
// words of `array`. All are multiples of 4.
std::string word_access(bool load, const std::string& memory, const std::string& array, int first,
                        int last, int period, int widest, const std::string& test = "");

// Text that puts pixels, the first of which is `array` followed by "0]", into `count` words.
std::string packed_words(PixelClass cls, const std::string& words, const std::string& array,
                         int count);

}  // namespace impipe::jit
