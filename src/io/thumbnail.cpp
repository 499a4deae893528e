// Makes thumbnails by averages over areas.
#include "io/thumbnail.hpp"

#include <algorithm>

#include "io/file_metadata.hpp"
#include "io/module.hpp"
#include "io/module/codec_module.hpp"

namespace impipe::io {
namespace {

constexpr int qualities[] = {85, 70, 50, 30};

// The mean of the pixels that each pixel of `to` covers, in 8 bits.
template <class T>
void shrink(const Plane& from, Plane& to, double white) {
  const Size size = from.size(), small = to.size();
  for (std::int64_t y = 0; y < small.height; ++y) {
    const std::int64_t top = y * size.height / small.height;
    const std::int64_t bottom = std::max(top + 1, (y + 1) * size.height / small.height);
    for (std::int64_t x = 0; x < small.width; ++x) {
      const std::int64_t left = x * size.width / small.width;
      const std::int64_t right = std::max(left + 1, (x + 1) * size.width / small.width);
      double sum = 0;
      for (std::int64_t row = top; row < bottom; ++row) {
        const T* pixels = from.row_as<T>(row);
        for (std::int64_t i = left; i < right; ++i) sum += static_cast<double>(pixels[i]);
      }
      const double mean = sum / static_cast<double>((right - left) * (bottom - top));
      const double level = 255 * mean / white;
      // NaN to 0.
      to.row_as<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(level > 0 ? std::min(level + 0.5, 255.0) : 0);
    }
  }
}

}  // namespace

Size jpeg_size(std::string_view jpeg) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(jpeg[i]); };
  for (size_t i = 2; i + 9 < jpeg.size() && at(i) == 0xff;) {
    const int code = at(i + 1);
    if (code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc) {
      return {at(i + 7) << 8 | at(i + 8), at(i + 5) << 8 | at(i + 6)};
    }
    i += 2 + static_cast<size_t>(at(i + 2) << 8 | at(i + 3));
  }
  return {0, 0};
}

std::string thumbnail_of(const HostImage& image, int side, size_t most_bytes) {
  const Size size = image.size();
  const std::int64_t longer = std::max(size.width, size.height);
  const std::int64_t most = std::min<std::int64_t>(side, longer);
  const auto scaled = [&](std::int64_t length) {
    return std::max<std::int64_t>(1, (length * most + longer / 2) / longer);
  };
  const int channels = image.type.channels >= 3 ? 3 : 1;
  HostImage small({.cls = PixelClass::uint8, .channels = channels, .alpha = false, .white = 255},
                  {scaled(size.width), scaled(size.height)});
  const double white = image.type.white == 0 ? 1 : image.type.white;
  for (size_t c = 0; c < small.planes.size(); ++c) {
    const Plane& plane = image.planes[c];
    switch (image.type.cls) {
      case PixelClass::single: shrink<float>(plane, small.planes[c], white); break;
      case PixelClass::uint16: shrink<std::uint16_t>(plane, small.planes[c], white); break;
      default: shrink<std::uint8_t>(plane, small.planes[c], white); break;
    }
  }
  Bytes jpeg;
  for (const int quality : qualities) {
    EncodeOptions options;
    options.quality = quality;
    jpeg = codec_module(Format::jpeg).encode(small, Format::jpeg, options);
    if (jpeg.size() <= most_bytes) break;
  }
  return std::string(text_of(jpeg));
}

}  // namespace impipe::io
