// What the header of a Sun raster file says. Read by the program to know the image before it is
// decoded, and by the module to decode the same one.
#pragma once

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

struct SunHeader {
  enum Kind { old, standard, run_lengths, rgb };
  ImageInfo info;
  Kind kind = standard;
  int bits = 24;                         // of a pixel
  std::int64_t map_bytes = 0;            // of a colour map
  std::int64_t data = 0, row_bytes = 0;  // offset of the pixels; of a row, padded to 2 bytes
  bool in_run_lengths() const { return kind == run_lengths; }
};
// Throws Error for depths, encodings and colour maps that are not read.
SunHeader sun_header(const ByteSource& source);

}  // namespace impipe::io
