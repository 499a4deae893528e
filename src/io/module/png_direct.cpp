// Reads the common kinds of PNG by way of libdeflate, in about half of libpng's time. The format
// needs little beside the compression: chunks with a checksum, and rows stored as differences.
#include "io/module/png_direct.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "io/bits.hpp"
#include "io/pixel_rows.hpp"

namespace impipe::io {
namespace {

enum Filter : std::uint8_t { none, sub, up, average, paeth };

// The bytes of a pixel, each in a lane of its own: a pixel waits for the one on its left, so what
// is gained is gained within one.
using Lanes = short __attribute__((vector_size(16)));
using ByteLanes = std::uint8_t __attribute__((vector_size(8)));

// Bytes in two parts, put together in a register: what is stored in parts and loaded whole waits.
template <int bytes>
std::uint64_t load_bytes(const std::uint8_t* from) {
  constexpr int low = bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
  std::uint64_t word = 0;
  if constexpr (bytes == 8) {
    std::memcpy(&word, from, 8);
  } else if constexpr (bytes == low) {
    std::conditional_t<low == 4, std::uint32_t,
                       std::conditional_t<low == 2, std::uint16_t, std::uint8_t>>
        part;
    std::memcpy(&part, from, low);
    word = part;
  } else {
    word = load_bytes<low>(from) | load_bytes<bytes - low>(from + low) << (8 * low);
  }
  return word;
}

template <int pixel>
Lanes load_pixel(const std::uint8_t* from) {
  return __builtin_convertvector(std::bit_cast<ByteLanes>(load_bytes<pixel>(from)), Lanes);
}
Lanes magnitude(Lanes v) { return v < 0 ? -v : v; }

template <int pixel>
void undo_paeth(const std::uint8_t* from, std::uint8_t* to, const std::uint8_t* above,
                std::int64_t count) {
  Lanes left = {}, corner = {};
  for (std::int64_t i = 0; i < count; i += pixel) {
    const Lanes top = load_pixel<pixel>(above + i);
    const Lanes rise = top - corner, run = left - corner;
    const Lanes from_left = magnitude(rise), from_top = magnitude(run);
    const Lanes from_corner = magnitude(rise + run);
    const Lanes other = from_top <= from_corner ? top : corner;
    const Lanes nearest = from_left <= from_top && from_left <= from_corner ? left : other;
    left = (load_pixel<pixel>(from + i) + nearest) & 255;
    corner = top;
    const auto word = std::bit_cast<std::uint64_t>(__builtin_convertvector(left, ByteLanes));
    std::memcpy(to + i, &word, pixel);
  }
}

// Undoes the filter of one row of `count` bytes; `to` may be `from`. `above` is the row before, all
// zeros for the first. `pixel` is the distance to the pixel on the left, in bytes.
template <int pixel>
bool unfilter_row(int filter, const std::uint8_t* from, std::uint8_t* to, const std::uint8_t* above,
                  std::int64_t count) {
  std::uint8_t left[pixel] = {};
  switch (filter) {
    case none:
      if (to != from) std::memcpy(to, from, static_cast<size_t>(count));
      return true;
    case sub:
      for (std::int64_t i = 0; i < count; i += pixel) {
        for (int b = 0; b < pixel; ++b) {
          to[i + b] = left[b] = static_cast<std::uint8_t>(from[i + b] + left[b]);
        }
      }
      return true;
    case up:
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = static_cast<std::uint8_t>(from[i] + above[i]);
      return true;
    case average:
      for (std::int64_t i = 0; i < count; i += pixel) {
        for (int b = 0; b < pixel; ++b) {
          to[i + b] = left[b] =
              static_cast<std::uint8_t>(from[i + b] + ((left[b] + above[i + b]) >> 1));
        }
      }
      return true;
    case paeth: undo_paeth<pixel>(from, to, above, count); return true;
    default: return false;
  }
}

using Unfilter = bool (*)(int, const std::uint8_t*, std::uint8_t*, const std::uint8_t*,
                          std::int64_t);
Unfilter unfilter_for(std::int64_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1: return unfilter_row<1>;
    case 2: return unfilter_row<2>;
    case 3: return unfilter_row<3>;
    case 4: return unfilter_row<4>;
    case 6: return unfilter_row<6>;
    default: return unfilter_row<8>;
  }
}

std::uint32_t big32(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

// The compressed pixels in one piece, when the file is one that we read: whole, not interlaced, of
// 1-bit grey or of 8 or 16 bits, without a palette or a transparent colour.
std::optional<std::span<const std::uint8_t>> pixels_of(InputBytes bytes,
                                                       std::vector<std::uint8_t>& joined) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const int bits = p[24], colour = p[25];
  if (p[26] != 0 || p[27] != 0 || p[28] != 0 || colour == 3 ||
      (bits < 8 && !(bits == 1 && colour == 0))) {
    return {};
  }
  std::vector<std::span<const std::uint8_t>> pieces;
  for (size_t at = 8; bytes.size() - at >= 12;) {
    const size_t length = big32(p + at);
    if (length > bytes.size() - at - 12) return {};
    const std::string_view kind(reinterpret_cast<const char*>(p + at + 4), 4);
    if (libdeflate_crc32(0, p + at + 4, length + 4) != big32(p + at + 8 + length)) return {};
    if (kind == "IEND") {
      if (pieces.empty()) return {};
      if (pieces.size() == 1) return pieces[0];
      for (const auto& piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
      return joined;
    }
    if (kind == "IDAT") {
      pieces.emplace_back(p + at + 8, length);
    } else if (kind == "tRNS" || (kind == "IHDR" && at != 8) ||
               (kind[0] < 'a' && kind != "IHDR" && kind != "PLTE")) {
      return {};
    }
    at += length + 12;
  }
  return {};
}

// Scratch memory from the program's allocator, which keeps it for the next picture.
HostImage scratch(MakeImage make_image, std::int64_t bytes) {
  return make_image({.cls = PixelClass::uint8, .channels = 1, .alpha = false, .white = 255},
                    {bytes, 1});
}

void swap_words(const std::uint8_t* from, std::uint16_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint16_t word;
    std::memcpy(&word, from + 2 * i, 2);
    to[i] = static_cast<std::uint16_t>(word << 8 | word >> 8);
  }
}

}  // namespace

std::optional<HostImage> decode_png_directly(InputBytes bytes, const ImageInfo& info,
                                             MakeImage make_image) {
  std::vector<std::uint8_t> joined;
  const auto packed = pixels_of(bytes, joined);
  if (!packed) return {};
  const ImageType& type = info.type;
  const auto [width, height] = info.stored;
  const bool one_bit = type.cls == PixelClass::logical;
  const bool wide = type.cls == PixelClass::uint16;
  const std::int64_t pixel = one_bit ? 1 : stored_bytes(type, 1);
  const std::int64_t row_bytes = one_bit ? (width + 7) / 8 : width * pixel;
  // A header may promise far more than there is: a byte of deflate gives at most 1032.
  const std::int64_t raw_bytes = (row_bytes + 1) * height;
  if (raw_bytes / 1032 > static_cast<std::int64_t>(packed->size()) + 1) return {};

  HostImage raw_image = scratch(make_image, raw_bytes);
  auto* raw = raw_image.planes.front().row_as<std::uint8_t>(0);
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflate(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (inflate == nullptr) throw std::bad_alloc();
  if (libdeflate_zlib_decompress(inflate.get(), packed->data(), packed->size(), raw,
                                 static_cast<size_t>(raw_bytes), nullptr) != LIBDEFLATE_SUCCESS) {
    return {};
  }

  HostImage image = make_image(type, info.stored);
  const Unfilter unfilter = unfilter_for(pixel);
  const std::vector<std::uint8_t> zeros(static_cast<size_t>(row_bytes));
  const bool as_stored = type.cls == PixelClass::uint8 && stored_channels(type) == 1;
  std::vector<std::uint16_t> words(wide ? static_cast<size_t>(row_bytes / 2) : 0);
  RowSplitter splitter(image);
  const std::uint8_t* above = zeros.data();
  for (std::int64_t y = 0; y < height; ++y) {
    std::uint8_t* from = raw + y * (row_bytes + 1);
    const int filter = *from++;
    std::uint8_t* to = as_stored ? image.planes.front().row_as<std::uint8_t>(y) : from;
    if (!unfilter(filter, from, to, above, row_bytes)) return {};
    above = to;
    if (one_bit) {
      unpack_bits(to, image.planes.front().row_as<std::uint8_t>(y), width);
    } else if (wide) {
      swap_words(to, words.data(), row_bytes / 2);
      splitter.put(words.data(), y);
    } else if (!as_stored) {
      splitter.put(to, y);
    }
  }
  return image;
}

}  // namespace impipe::io
