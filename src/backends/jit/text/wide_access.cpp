// Wide loads and stores of pixels, as kernel text.
#include "backends/jit/text/wide_access.hpp"

#include <algorithm>
#include <cstdlib>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"

namespace impipe::jit {
namespace {

std::string access(bool load, PixelClass cls, const std::string& memory, const std::string& array,
                   int offset, int count, int widest) {
  int wide = widest;
  while ((count * bytes_of(cls)) % wide != 0 || (offset * bytes_of(cls)) % wide != 0) wide /= 2;
  if (wide < 4) {
    std::string single;
    for (int i = offset; i < offset + count; ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      const std::string in_memory = "(" + memory + ")" + at, in_array = "(" + array + ")" + at;
      single += load ? assigned(in_array, in_memory) : assigned(in_memory, in_array);
    }
    return single;
  }
  const std::string name = std::to_string(wide) + "_" + type_of(cls);
  std::string text;
  for (int i = offset; i < offset + count; i += wide / bytes_of(cls)) {
    const std::string at = i == 0 ? "" : " + " + std::to_string(i);
    text +=
        statement((load ? "load_" : "store_") + name + "(" + memory + at + ", " + array + at + ")");
  }
  return text;
}

}  // namespace

std::string wide_load(PixelClass cls, const std::string& memory, const std::string& array,
                      int offset, int count, int widest) {
  return access(true, cls, memory, array, offset, count, widest);
}

std::string wide_store(PixelClass cls, const std::string& memory, const std::string& array,
                       int count, int widest) {
  return access(false, cls, memory, array, 0, count, widest);
}

std::string packed_words(PixelClass cls, const std::string& words, const std::string& array,
                         int count) {
  const int in_word = 4 / bytes_of(cls);
  std::string text;
  for (int w = 0; w < count; ++w) {
    std::string word;
    for (int k = 0; k < in_word; ++k) {
      const std::string pixel = array + std::to_string(w * in_word + k) + "]";
      const std::string shift = std::to_string(8 * bytes_of(cls) * k);
      word += k == 0 ? "" : " | ";
      // A choice is an instruction less than a shift.
      word += cls == PixelClass::single    ? "FLOAT_BITS(" + pixel + ")"
              : cls == PixelClass::logical ? "(" + pixel + " != 0 ? 1u << " + shift + " : 0u)"
                                           : "(uint)" + pixel + " << " + shift;
    }
    if (cls == PixelClass::uint8) {
      word = "FIRST_BYTES((&" + array + std::to_string(4 * w) + "]))";
    }
    text += assigned(words + "[" + std::to_string(w) + "]", word);
  }
  return text;
}

std::string word_access(bool load, const std::string& memory, const std::string& array, int first,
                        int last, int period, int widest, const std::string& test) {
  std::string text;
  const int start = first;
  while (first < last) {
    int wide = widest;
    while (first + wide > last || first % wide != 0 || period % wide != 0) wide /= 2;
    text += statement((load ? "load_" : "store_") + std::to_string(wide) + "_bytes" +
                      (test.empty() ? "(" : "_if(" + test + ", ") + memory +
                      (first < 0 ? " - " : " + ") + std::to_string(std::abs(first)) + ", " + array +
                      " + " + std::to_string((first - start) / 4) + ")");
    first += wide;
  }
  return text;
}

}  // namespace impipe::jit
