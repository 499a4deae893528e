// NPY arrays: their axes and items as pictures, and arrays of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

struct NpyHeader {
  ImageInfo info;
  char kind = 'u';  // numpy's: b, u, i, f
  int item_bytes = 1;
  bool big_endian = false;
  int channels = 1;       // as stored, an alpha counted
  std::int64_t data = 0;  // offset of the pixels
  std::int64_t items = 0;
  int arrays = 1;  // one behind the other in the file
  NpyAxes axes;
  // Distances, in items, between neighbours along x, y, the channels, and each axis of pages.
  std::int64_t step_x = 1, step_y = 0, step_channel = 0;
  struct PageAxis {
    std::int64_t count = 1, step = 0;
  };
  std::vector<PageAxis> page_axes;
};
// axes: see Reading.
NpyHeader npy_header(const ByteSource& source, const std::string& axes = "");
// Throws Error (usage) for letters that no NPY can have: "--axes ZX: it has no Y".
void check_axes(const std::string& axes);

// axes: of the NPY that the image was made from, or null.
Bytes encode_npy(const HostImage& image, const NpyAxes* axes, SampleType samples);
// An .npy file of doubles, in C order; shape as numpy says it: {n}, {rows, columns}.
Bytes encode_npy(std::span<const double> values, std::span<const std::int64_t> shape);
// One array of the pages, each of which is an array of one type and shape. axes: of the NPY that
// they are made from, or null; those that count pages are kept if all of them are here, else there
// is one, and without `axes` it is the first. Throws Error where pages differ.
Bytes join_npy_pages(std::span<const Bytes> pages, const NpyAxes* axes);

}  // namespace impipe::io
