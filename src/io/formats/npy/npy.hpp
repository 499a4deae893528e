// The arrays of .npy files: their headers, the letters of their axes, and how they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// The axes of the array in a file. axes: see Reading. Throws Error.
NpyAxes npy_axes(const ByteSource& source, const std::string& axes);

// Throws Error (usage) for letters that no NPY can have: "--axes ZX: it has no Y".
void check_axes(const std::string& axes);

// axes: of the NPY that the image was made from, or null.
Bytes encode_npy(const HostImage& image, const NpyAxes* axes, SampleType samples);
// What such a file begins with, where an image's rows follow one behind the other, each with the
// channels of a pixel side by side; else nothing.
std::optional<Bytes> begin_npy_rows(const ImageType& type, Size size, const NpyAxes* axes,
                                    SampleType samples);
// An .npy file of doubles, in C order; shape as numpy says it: {n}, {rows, columns}.
Bytes encode_npy(std::span<const double> values, std::span<const std::int64_t> shape);
// One array of the pages, each of which is an array of one type and shape. axes: of the NPY that
// they are made from, or null; those that count pages are kept if all of them are here, else there
// is one, and without `axes` it is the first. Throws Error where pages differ.
Bytes join_npy_pages(std::span<const Bytes> pages, const NpyAxes* axes);

// Without an axis of the pages, that letter.
NpyAxes without(const PageAxis& axis, NpyAxes axes);

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
