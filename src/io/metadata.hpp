// What a picture file says beside its pixels, carried from the input to the output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/format.hpp"

namespace impipe::io {

struct Metadata {
  std::vector<std::byte> exif;  // a TIFF structure ("II*\0…"), orientation already reset to 1
  std::vector<std::byte> icc;   // an ICC profile
  std::string xmp;              // an XMP packet
  // PNG chunks or JPEG segments with texts, comments, IPTC and the resolution, for files of the
  // same format (io/verbatim.hpp).
  std::vector<std::byte> pieces;
  std::optional<Format> pieces_of;
  bool damaged = false;  // there was more than could be read
  // Without what is for one format alone.
  bool empty() const { return exif.empty() && icc.empty() && xmp.empty(); }
};

}  // namespace impipe::io
