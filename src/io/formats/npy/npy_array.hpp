// The arrays of .npy files: their headers, and the letters of their axes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// "20, 64, 64", or "20,", as numpy says it between parentheses.
std::string shape_text(std::span<const std::int64_t> shape);

// The header of one array, as it stands in the file.
struct NpyArray {
  std::string type;  // "'<f4'", quotes included
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0;   // offset of the items in the file
  std::int64_t items = 1;  // at most 2^58
  std::string text() const { return "(" + shape_text(shape) + ")"; }
};
// The array whose header is at byte `begin`. Throws Error.
NpyArray npy_array(const ByteSource& source, std::int64_t begin = 0);

// The letter of the axis of channels, or 0.
char channel_letter(const std::string& letters);
// Whether the axis of this letter counts pages.
bool is_page_axis(const std::string& letters, char letter);

}  // namespace impipe::io
