// Plain images, to and from the program's.
#include "support/reference/image.hpp"

namespace impipe::reference {

double cast(PixelClass cls, double value) {
  if (cls == PixelClass::single) return static_cast<float>(value);
  if (cls == PixelClass::logical) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  const double largest = cls == PixelClass::uint8 ? 255 : 65535;
  if (value <= 0) return 0;
  if (value >= largest) return largest;
  return std::floor(value + 0.5);  // exact below 2^52
}

Image from_host(const HostImage& image) {
  Image out(image.type.cls, image.type.white, static_cast<int>(image.size().height),
            static_cast<int>(image.size().width), image.type.channels);
  const int n = out.columns * out.channels;
  for (int r = 0; r < out.rows; ++r) {
    for (int i = 0; i < n; ++i) {
      double& to = out.values[static_cast<size_t>(r) * n + i];
      const Plane& p = image.planes[static_cast<size_t>(i % out.channels)];
      const int c = i / out.channels;
      switch (p.cls()) {
        case PixelClass::logical:
        case PixelClass::uint8: to = p.row_as<std::uint8_t>(r)[c]; break;
        case PixelClass::uint16: to = p.row_as<std::uint16_t>(r)[c]; break;
        case PixelClass::single: to = p.row_as<float>(r)[c]; break;
      }
    }
  }
  return out;
}

HostImage to_host(const Image& image) {
  HostImage out({.cls = image.cls, .channels = image.channels, .white = image.white},
                {image.columns, image.rows});
  const int n = image.columns * image.channels;
  for (int r = 0; r < image.rows; ++r) {
    for (int i = 0; i < n; ++i) {
      const double from = image.values[static_cast<size_t>(r) * n + i];
      Plane& p = out.planes[static_cast<size_t>(i % image.channels)];
      const int c = i / image.channels;
      switch (image.cls) {
        case PixelClass::logical:
        case PixelClass::uint8:
          p.row_as<std::uint8_t>(r)[c] = static_cast<std::uint8_t>(from);
          break;
        case PixelClass::uint16:
          p.row_as<std::uint16_t>(r)[c] = static_cast<std::uint16_t>(from);
          break;
        case PixelClass::single: p.row_as<float>(r)[c] = static_cast<float>(from); break;
      }
    }
  }
  return out;
}

}  // namespace impipe::reference
