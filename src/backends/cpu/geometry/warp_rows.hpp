// Affine maps in vectors.
#pragma once

#include "backends/cpu/geometry/place_rule.hpp"
#include "backends/cpu/geometry/resample_rows.hpp"

namespace impipe::cpu {

// Of pixels of the output: the bytes from a copy's begin to their words, below 2^31, and how far
// they lie to the right of these and below them.
struct WordPlaces {
  std::int32_t* offsets;
  float *across, *down;
};
// Where the words of a copy stand: that of pixel (0, 0) `base` bytes before its begin, rows
// `stride` behind each other.
struct WordGrid {
  std::int64_t stride, base;
  int word_bytes;
};
inline constexpr int max_words = 256, words_together = 16;
// Of output pixels [begin, end) of a row, and up to words_together - 1 more. Levels from v3 on.
void find_words(const PlaceRow& row, std::int64_t begin, std::int64_t end, const WordGrid& grid,
                bool nearest, CpuLevel level, const WordPlaces& to);
// As numbers, of n places: a multiple of words_together, at most max_words. Levels from v3 on.
// blend: between the four pixels that a word and the one behind it have, pixels above those below.
// blend_cubic: from the sixteen pixels of four words and, where words have not all rows, those
// in the rows below; at the first of the four.
void blend_words(PixelClass cls, CpuLevel level, const std::byte* data, const WordPlaces& at, int n,
                 float* out);
void blend_cubic(PixelClass cls, CpuLevel level, const std::byte* data, std::int64_t stride,
                 const WordPlaces& at, int n, float* out);

}  // namespace impipe::cpu
