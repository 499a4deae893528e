// How an EXR packs its pixels, for devices that decode and encode them.
#pragma once

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/packed_picture.hpp"
#include "io/formats/exr/exr_header.hpp"

namespace impipe::io {

// Of lines of channels of one type, in the order of the image; nothing where it is not floats, or
// another compression than none, RLE, ZIPS and ZIP.
inline std::optional<PackedForm> exr_form(const ImageType& type, Size size,
                                          const std::vector<std::string>& channels, ExrType channel,
                                          int compression) {
  using enum PackedForm::Packing;
  constexpr PackedForm::Packing packings[] = {none, exr_rle, zlib, zlib};
  if (channel == ExrType::whole || compression >= std::ssize(packings)) return {};
  PackedForm form{
      .cls = PixelClass::single,
      .channels = type.channels,
      .size = size,
      .packing = packings[compression],
      .filter = compression > 0 ? PackedForm::Filter::exr : PackedForm::Filter::none,
      .sample = channel == ExrType::half ? PackedForm::Sample::half : PackedForm::Sample::floating,
      .bits = channel == ExrType::half ? 16 : 32,
      .order = PackedForm::Order::by_row,
      .channel_of = std::vector<std::uint8_t>(channels.size()),
      .chunk = {size.width, exr_compressions[compression].rows}};
  // A row has its channels in the order of their names.
  std::iota(form.channel_of.begin(), form.channel_of.end(), std::uint8_t{0});
  std::ranges::sort(form.channel_of, {}, [&](std::uint8_t i) { return channels[i]; });
  return form;
}

}  // namespace impipe::io
