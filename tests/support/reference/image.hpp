// Images as plain arrays of double, for references written as the definitions read.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace impipe::reference {

struct Image {
  PixelClass cls = PixelClass::uint8;
  double white = 255;
  int rows = 0, columns = 0, channels = 1;
  std::vector<double> values;  // row major, channels interleaved

  Image() = default;
  Image(PixelClass c, double w, int r, int cols, int ch)
      : cls(c),
        white(w),
        rows(r),
        columns(cols),
        channels(ch),
        values(static_cast<size_t>(r) * cols * ch) {}
  // An image of this one's kind with another size.
  Image sized(int r, int cols) const { return {cls, white, r, cols, channels}; }

  double& at(int r, int c, int k = 0) {
    return values[(static_cast<size_t>(r) * columns + c) * channels + k];
  }
  double at(int r, int c, int k = 0) const {
    return values[(static_cast<size_t>(r) * columns + c) * channels + k];
  }
  bool inside(int r, int c) const { return r >= 0 && r < rows && c >= 0 && c < columns; }
};

// semantics 0: NaN to 0, saturated, half away from zero; logical: not 0.
double cast(PixelClass cls, double value);

Image from_host(const HostImage& image);
HostImage to_host(const Image& image);

}  // namespace impipe::reference
