// How an EXR packs its pixels, for devices that decode and encode them.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/packed_picture.hpp"
#include "io/formats/exr/exr_header.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// Puts those that a file has besides its picture's among its channels, which are in the order of
// their names.
inline void add_carried(const std::vector<std::string>& channels, const ExrCarried& carried,
                        PackedForm& form) {
  for (const std::uint8_t channel : form.channel_of) {
    int before = 0;
    for (size_t i = 0; i < carried.names.size(); ++i) {
      if (carried.names[i] < channels[channel]) before += carried.sample_bytes[i];
    }
    form.carried_before.push_back(static_cast<std::uint16_t>(before));
  }
  form.carried = std::accumulate(carried.sample_bytes.begin(), carried.sample_bytes.end(), 0);
}

// Of lines of channels of one type, in the order of the image, alpha last; nothing where it is not
// floats, another compression than none, RLE, ZIPS, ZIP and PXR24, or not all pixels are in all
// channels.
inline std::optional<PackedForm> exr_form(const ImageType& type, Size size,
                                          const std::vector<std::string>& channels, ExrType channel,
                                          int compression, const ExrCarried& carried) {
  using Filter = PackedForm::Filter;
  using Packing = PackedForm::Packing;
  constexpr int rle = 1, zip = 3, pxr24 = 5;
  const bool is_half = channel == ExrType::half, is_pxr24 = compression == pxr24;
  if (channel == ExrType::whole || (compression > zip && !is_pxr24)) return {};
  constexpr size_t most_carried = 1024;
  if (std::ranges::count(carried.sample_bytes, 0) > 0 || carried.names.size() > most_carried) {
    return {};
  }
  PackedForm form{.cls = PixelClass::single,
                  .channels = static_cast<int>(channels.size()),
                  .alpha = type.alpha ? PackedForm::Alpha::associated : PackedForm::Alpha::none,
                  .size = size,
                  .packing = compression == 0     ? Packing::none
                             : compression == rle ? Packing::exr_rle
                                                  : Packing::zlib,
                  .filter = compression == 0 ? Filter::none
                            : is_pxr24       ? Filter::pxr24
                                             : Filter::exr,
                  .sample = is_half ? PackedForm::Sample::half : PackedForm::Sample::floating,
                  .bits = is_half    ? 16
                          : is_pxr24 ? 24
                                     : 32,
                  .order = PackedForm::Order::by_row,
                  .channel_of = std::vector<std::uint8_t>(channels.size()),
                  .chunk = {size.width, exr_compressions[compression].rows}};
  // A row has its channels in the order of their names.
  std::iota(form.channel_of.begin(), form.channel_of.end(), std::uint8_t{0});
  std::ranges::sort(form.channel_of, {}, [&](std::uint8_t i) { return channels[i]; });
  if (!carried.empty()) add_carried(channels, carried, form);
  return form;
}

}  // namespace impipe::io
