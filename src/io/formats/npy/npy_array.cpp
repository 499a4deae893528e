// Reads the headers of .npy files.
#include "io/formats/npy/npy.hpp"

#include <algorithm>

namespace impipe::io {
namespace {

// The value of a key of the header's Python dictionary, as text up to the end of the value.
std::string value_of(const std::string& header, const std::string& key) {
  const size_t at = header.find("'" + key + "'");
  if (at == header.npos) fail("damaged NPY: its header has no '", key, "'");
  const size_t colon = header.find(':', at);
  const size_t begin = header.find_first_not_of(' ', std::min(colon, header.size() - 1) + 1);
  if (colon == header.npos || begin == header.npos) fail("damaged NPY: its header ends early");
  const size_t end =
      header[begin] == '(' ? header.find(')', begin) + 1 : header.find_first_of(",}", begin);
  return header.substr(begin, end - begin);
}

// The numbers of a tuple.
std::vector<std::int64_t> shape_of(const std::string& text) {
  std::vector<std::int64_t> shape;
  std::int64_t number = -1;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      if (number > (std::int64_t{1} << 50)) fail("damaged NPY: its shape is ", text);
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    } else {
      if (number >= 0) shape.push_back(number);
      number = -1;
    }
  }
  return shape;
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t n : shape) text += std::to_string(n) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) text.resize(text.size() - 2);
  return text;
}

NpyArray npy_array(const ByteSource& source, std::int64_t begin) {
  const std::string head = source.read(begin, 12);
  const int version = head[6];
  const int length_bytes = version == 1 ? 2 : 4;
  const auto length = static_cast<std::int64_t>(little_at(head, 8, length_bytes));
  if (version < 1 || version > 3 || length > (1 << 20)) fail("damaged NPY: unknown version");
  const std::string header = source.read(begin + 8 + length_bytes, length);
  NpyArray out;
  out.data = begin + 8 + length_bytes + length;
  out.type = value_of(header, "descr");
  out.fortran_order = value_of(header, "fortran_order").starts_with("True");
  const std::string shape = value_of(header, "shape");
  out.shape = shape_of(shape);
  for (const std::int64_t n : out.shape) {
    constexpr std::int64_t max_items = std::int64_t{1} << 58;
    if (__builtin_mul_overflow(out.items, n, &out.items) || out.items > max_items) {
      fail("damaged NPY: its shape is ", shape);
    }
  }
  return out;
}

char channel_letter(const std::string& letters) {
  for (const char letter : {'A', 'S', 'C'}) {
    if (letters.find(letter) != letters.npos) return letter;
  }
  return 0;
}

bool is_page_axis(const std::string& letters, char letter) {
  return letter != 'Y' && letter != 'X' && letter != channel_letter(letters);
}

void check_axes(const std::string& axes) {
  if (axes.empty()) return;
  const auto fail_axes = [&](const std::string& why) {
    throw Error("--axes " + axes + ": " + why);
  };
  for (const char letter : axes) {
    if (letter < 'A' || letter > 'Z') {
      fail_axes(
          "an axis is a letter of A to Z: Y and X, C for channels, A for channels with an "
          "alpha, others for pages");
    }
    if (std::ranges::count(axes, letter) > 1) {
      fail_axes(std::string("it has ") + letter + " twice");
    }
  }
  for (const char letter : {'Y', 'X'}) {
    if (axes.find(letter) == axes.npos) fail_axes(std::string("it has no ") + letter);
  }
  if (axes.find('A') != axes.npos && axes.find('S') != axes.npos) {
    fail_axes("A and S both are the channels of a pixel");
  }
}

}  // namespace impipe::io
