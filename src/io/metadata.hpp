// What a picture file says beside its pixels, carried from the input to the output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace impipe::io {

struct Metadata {
  std::vector<std::byte> exif;  // a TIFF structure ("II*\0…"), orientation already reset to 1
  std::vector<std::byte> icc;   // an ICC profile
  std::string xmp;              // an XMP packet
  bool empty() const { return exif.empty() && icc.empty() && xmp.empty(); }
};

}  // namespace impipe::io
