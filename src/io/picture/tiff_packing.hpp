// How a TIFF compresses its pixels.
#pragma once

namespace impipe::io {

// By the file's numbers.
struct TiffPacking {
  int compression = 8;  // 1 none, 5 LZW, 8 deflate, 50000 Zstandard, …
  int predictor = 1;    // 1 none, 2 differences of neighbours, 3 the same of the bytes of floats
  bool operator==(const TiffPacking&) const = default;
};

}  // namespace impipe::io
