// Makes thumbnails by averages over areas.
#include "io/metadata/thumbnail.hpp"

#include <algorithm>

#include "io/metadata/file_metadata.hpp"
#include "io/module/codec_module.hpp"
#include "io/module/module.hpp"

namespace impipe::io {
namespace {

constexpr int qualities[] = {85, 70, 50, 30};

// Where row or column `at` of `parts`, which divide `length`, begins.
std::int64_t begin_of(std::int64_t at, std::int64_t length, std::int64_t parts) {
  return at * length / parts;
}

// Of the sum of so many pixels, in 8 bits; NaN to 0.
std::uint8_t level_of(double sum, std::int64_t count, double white) {
  const double level = 255 * (sum / static_cast<double>(count)) / white;
  return static_cast<std::uint8_t>(level > 0 ? std::min(level + 0.5, 255.0) : 0);
}

template <class T>
void add_row(const T* pixels, std::int64_t width, std::vector<double>& sums) {
  const auto parts = static_cast<std::int64_t>(sums.size());
  for (std::int64_t x = 0; x < parts; ++x) {
    const std::int64_t end = begin_of(x + 1, width, parts);
    double& sum = sums[static_cast<size_t>(x)];
    for (std::int64_t i = begin_of(x, width, parts); i < end; ++i) {
      sum += static_cast<double>(pixels[i]);
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

SmallPicture::SmallPicture(const ImageType& type, Size size, int side)
    : size_(size), white_(type.white == 0 ? 1 : type.white) {
  const std::int64_t longer = std::max(size.width, size.height);
  const std::int64_t most = std::min<std::int64_t>(side, longer);
  const auto scaled = [&](std::int64_t length) {
    return std::max<std::int64_t>(1, (length * most + longer / 2) / longer);
  };
  const int channels = type.channels >= 3 ? 3 : 1;
  small_ = HostImage({.cls = PixelClass::uint8, .channels = channels, .alpha = false, .white = 255},
                     {scaled(size.width), scaled(size.height)});
  sums_.assign(small_.planes.size(), std::vector<double>(static_cast<size_t>(small_.size().width)));
}

void SmallPicture::add(const HostImage& rows) {
  for (std::int64_t y = 0; y < rows.size().height; ++y, ++y_) {
    for (size_t c = 0; c < sums_.size(); ++c) {
      const Plane& plane = rows.planes[c];
      switch (rows.type.cls) {
        case PixelClass::single: add_row(plane.row_as<float>(y), size_.width, sums_[c]); break;
        case PixelClass::uint16:
          add_row(plane.row_as<std::uint16_t>(y), size_.width, sums_[c]);
          break;
        default: add_row(plane.row_as<std::uint8_t>(y), size_.width, sums_[c]); break;
      }
    }
    if (y_ + 1 == begin_of(small_y_ + 1, size_.height, small_.size().height)) end_row();
  }
}

void SmallPicture::end_row() {
  const Size small = small_.size();
  const std::int64_t rows = y_ + 1 - begin_of(small_y_, size_.height, small.height);
  for (size_t c = 0; c < sums_.size(); ++c) {
    auto* to = small_.planes[c].row_as<std::uint8_t>(small_y_);
    for (std::int64_t x = 0; x < small.width; ++x) {
      const std::int64_t columns =
          begin_of(x + 1, size_.width, small.width) - begin_of(x, size_.width, small.width);
      to[x] = level_of(sums_[c][static_cast<size_t>(x)], columns * rows, white_);
    }
    std::ranges::fill(sums_[c], 0.0);
  }
  ++small_y_;
}

std::string thumbnail_of(const HostImage& image, int side, size_t max_bytes) {
  SmallPicture small(image.type, image.size(), side);
  small.add(image);
  Bytes jpeg;
  for (const int quality : qualities) {
    EncodeOptions options;
    options.quality = quality;
    jpeg = codec_module(main_module).encode(small.image(), Format::jpeg, options);
    if (jpeg.size() <= max_bytes) break;
  }
  return std::string(text_of(jpeg));
}

}  // namespace impipe::io
