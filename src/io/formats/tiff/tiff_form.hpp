// How a TIFF packs its pixels, for devices that decode and encode them.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/packed_picture.hpp"

namespace impipe::io {

// Rows of a strip of about 256 KiB, as they are written: readers need not hold the whole picture.
inline std::int64_t tiff_strip_rows(std::int64_t row_bytes, std::int64_t height) {
  constexpr std::int64_t strip_bytes = std::int64_t{256} << 10;
  return std::clamp<std::int64_t>(strip_bytes / std::max<std::int64_t>(row_bytes, 1), 1, height);
}

// By the numbers of TIFF 6.0; nothing for those that no device knows.
inline std::optional<PackedForm::Packing> tiff_packing(int compression) {
  switch (compression) {
    case 1: return PackedForm::Packing::none;
    case 5: return PackedForm::Packing::lzw;
    case 8:
    case 32946: return PackedForm::Packing::zlib;
    case 32773: return PackedForm::Packing::packbits;
    default: return {};
  }
}

// Of a picture pixel by pixel in strips, alpha straight and last; its samples are those of its
// class, of one bit where it is logical. Nothing for packings that no device knows.
inline std::optional<PackedForm> tiff_form(const ImageType& type, Size size, int compression,
                                           int predictor) {
  const auto packing = tiff_packing(compression);
  if (!packing || predictor < 1 || predictor > 3) return {};
  const bool is_float = type.cls == PixelClass::single;
  const int channels = type.channels + (type.alpha ? 1 : 0);
  PackedForm form{.cls = type.cls,
                  .channels = channels,
                  .alpha = type.alpha ? PackedForm::Alpha::straight : PackedForm::Alpha::none,
                  .size = size,
                  .packing = *packing,
                  .filter = predictor == 1   ? PackedForm::Filter::none
                            : predictor == 2 ? PackedForm::Filter::differences
                                             : PackedForm::Filter::float_differences,
                  .sample = is_float ? PackedForm::Sample::floating : PackedForm::Sample::integer,
                  .bits = type.cls == PixelClass::logical ? 1 : 8 * bytes_of(type.cls),
                  .channel_of = std::vector<std::uint8_t>(static_cast<std::size_t>(channels))};
  std::iota(form.channel_of.begin(), form.channel_of.end(), std::uint8_t{0});
  form.chunk = {size.width, tiff_strip_rows(form.row_bytes(size.width), size.height)};
  return form;
}

}  // namespace impipe::io
