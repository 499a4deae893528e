// Which lossless pictures a device can decode.
#include "core/unpacks.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace impipe {
namespace {

using Filter = PackedForm::Filter;
using Order = PackedForm::Order;
using Packing = PackedForm::Packing;
using Sample = PackedForm::Sample;

constexpr int most_channels = 16;  // four bits each in the kernels' text

bool is_floating(const PackedForm& form) {
  return form.sample == Sample::half || form.sample == Sample::floating;
}

// Whether a sample becomes a pixel of the class by no more than a scale.
bool has_pixels(const PackedForm& form) {
  switch (form.sample) {
    case Sample::half: return form.bits == 16 && form.cls == PixelClass::single && !form.inverted;
    case Sample::floating:
      return form.bits == (form.filter == Filter::pxr24 ? 24 : 32) &&
             form.cls == PixelClass::single && !form.inverted;
    case Sample::signed_integer:
      return (form.bits == 8 || form.bits == 16 || form.bits == 32) &&
             form.cls == PixelClass::single && !form.inverted;
    case Sample::integer: break;
  }
  if (form.bits == 32) return form.cls == PixelClass::single && !form.inverted;
  if (form.bits == 1 && form.cls == PixelClass::logical) return true;
  if (form.bits == 16) return form.cls == PixelClass::uint16;
  return form.cls == PixelClass::uint8 &&
         (form.bits == 1 || form.bits == 2 || form.bits == 4 || form.bits == 8);
}

// Colours, which an alpha goes with.
bool has_alpha(const PackedForm& form) {
  return form.alpha == PackedForm::Alpha::none ||
         (form.channels > 1 && form.cls != PixelClass::logical);
}

bool has_palette(const PackedForm& form) {
  return !form.palette ||
         (form.cls == PixelClass::uint8 && form.bits <= 8 && !form.inverted &&
          form.order == Order::by_pixel && form.alpha != PackedForm::Alpha::associated);
}

bool has_channels(const PackedForm& form) {
  if (form.channels < 1 || form.channels > most_channels ||
      form.channel_of.size() != static_cast<std::size_t>(form.samples())) {
    return false;
  }
  std::vector<std::uint8_t> sorted = form.channel_of;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != i) return false;
  }
  return true;
}

// Whether samples of other channels lie so that the picture's begin on multiples of their bytes.
bool has_carried(const PackedForm& form) {
  if (form.carried == 0) return form.carried_before.empty();
  constexpr int most = 4;  // of the picture's channels: 16 bits each in the kernels' text
  const std::int64_t bytes = form.bits / 8;
  const auto is_aligned = [&](int before) { return form.size.width * before % bytes == 0; };
  return form.order == Order::by_row && form.bits >= 16 && form.filter != Filter::pxr24 &&
         form.chunk.width == form.size.width && form.channels <= most &&
         form.carried_before.size() == static_cast<std::size_t>(form.channels) &&
         is_aligned(form.carried) && std::ranges::all_of(form.carried_before, is_aligned);
}

bool has_filter(const PackedForm& form) {
  switch (form.filter) {
    case Filter::none: return true;
    case Filter::differences: return form.bits >= 8 && form.order != Order::by_row;
    case Filter::float_differences: return is_floating(form) && form.order != Order::by_row;
    case Filter::png: {
      const int bytes = std::max(1, form.samples() * form.bits / 8);  // of a pixel
      return form.order == Order::by_pixel && form.chunk == form.size && bytes <= 8 && bytes != 5 &&
             bytes != 7;
    }
    case Filter::exr: return form.bits >= 8;
    case Filter::pxr24: return is_floating(form) && form.order == Order::by_row;
  }
  return false;
}

bool fits_class(const PackedForm& form) {
  switch (form.cls) {
    case PixelClass::logical:
      return form.sample == Sample::integer &&
             (form.bits == 1 || form.bits == 8 || form.bits == 16);
    case PixelClass::uint8: return form.sample == Sample::integer && form.bits == 8;
    case PixelClass::uint16: return form.sample == Sample::integer && form.bits == 16;
    case PixelClass::single:
      return !form.inverted && ((form.sample == Sample::floating && form.bits == 32) ||
                                (form.sample == Sample::half && form.bits == 16));
  }
  return false;
}

bool fits_filter(const PackedForm& form) {
  if (form.bits == 1 && form.channels != 1) return false;
  switch (form.filter) {
    case Filter::none: return true;
    case Filter::differences: return form.bits > 1 && form.order != Order::by_row;
    case Filter::float_differences: return is_floating(form) && form.order != Order::by_row;
    case Filter::png: return form.order == Order::by_pixel && form.packing != Packing::lzw;
    case Filter::exr: return form.packing == Packing::zlib && form.bits > 1;
    case Filter::pxr24: return false;
  }
  return false;
}

}  // namespace

bool unpacks(const PackedForm& form) {
  return form.size.width > 0 && form.size.height > 0 && form.chunk.width > 0 &&
         form.chunk.height > 0 && has_channels(form) && has_alpha(form) && has_palette(form) &&
         has_carried(form) && has_pixels(form) && has_filter(form) &&
         form.size.width < max_chunk_bytes && form.size.height < max_chunk_bytes &&
         form.chunk_bytes() <= max_chunk_bytes;
}

bool packs(const PackedForm& form) {
  constexpr Packing known[] = {Packing::none, Packing::zlib, Packing::lzw};
  if (std::ranges::find(known, form.packing) == std::end(known)) return false;
  if (form.channels < 1 || form.channel_of.size() != static_cast<std::size_t>(form.channels) ||
      !has_alpha(form) || form.palette) {
    return false;
  }
  // Products are floats.
  if (form.alpha == PackedForm::Alpha::associated && form.cls != PixelClass::single) return false;
  if (form.size.pixels() == 0 || form.chunk.pixels() == 0) return false;
  constexpr std::int64_t max_bytes = std::int64_t{1} << 30, max_chunks = 65535;
  // The bits of a chunk in LZW are counted in 32.
  if (form.packing == Packing::lzw && max_lzw_bytes(form.chunk_bytes()) >= max_bytes / 2)
    return false;
  return form.chunks() <= max_chunks && packed_room(form) < max_bytes && fits_class(form) &&
         fits_filter(form) && has_carried(form);
}

}  // namespace impipe
