// How a PNG packs its pixels, for devices that decode and encode them.
#pragma once

#include <numeric>

#include "core/packed_picture.hpp"

namespace impipe::io {

// Of gray or colour, perhaps with alpha; logical pixels have one bit.
inline PackedForm png_form(const ImageType& type, Size size) {
  const int channels = type.channels + (type.alpha ? 1 : 0);
  PackedForm form{.cls = type.cls,
                  .channels = channels,
                  .alpha = type.alpha ? PackedForm::Alpha::straight : PackedForm::Alpha::none,
                  .size = size,
                  .packing = PackedForm::Packing::zlib,
                  .filter = PackedForm::Filter::png,
                  .bits = type.cls == PixelClass::logical ? 1 : 8 * bytes_of(type.cls),
                  .big_endian = true,
                  .channel_of = std::vector<std::uint8_t>(static_cast<std::size_t>(channels)),
                  .chunk = size};
  std::iota(form.channel_of.begin(), form.channel_of.end(), std::uint8_t{0});
  return form;
}

}  // namespace impipe::io
