// Reads the common kinds of PNG by way of libdeflate, in about half of libpng's time. The format
// needs little beside the compression: chunks with a checksum, and rows stored as differences.
#include "io/formats/png/module/png_direct.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "io/bytes/bits.hpp"
#include "io/formats/png/module/png_filter.hpp"
#include "io/formats/png/module/png_unfilter.hpp"
#include "io/formats/png/png_form.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

std::uint32_t big32(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

using Pieces = std::vector<std::span<const std::byte>>;

struct PngPixels {
  int bits = 8;                      // of a sample
  Pieces pieces;                     // of the compressed pixels
  InputBytes palette, transparency;  // the data of PLTE and tRNS
};

// The compressed pixels, piece after piece, when the file is whole and not interlaced. No pieces
// where it is not, and for a transparent colour of pixels without a palette.
PngPixels pixels_of(InputBytes bytes) {
  constexpr int is_indexed = 3;
  const auto* p = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const int colour = p[25];
  PngPixels out{.bits = p[24], .pieces = {}, .palette = {}, .transparency = {}};
  if (p[26] != 0 || p[27] != 0 || p[28] != 0) return {};
  for (size_t at = 8; bytes.size() - at >= 12;) {
    const size_t length = big32(p + at);
    if (length > bytes.size() - at - 12) return {};
    const std::string_view kind(reinterpret_cast<const char*>(p + at + 4), 4);
    if (libdeflate_crc32(0, p + at + 4, length + 4) != big32(p + at + 8 + length)) return {};
    const InputBytes data = bytes.subspan(at + 8, length);
    if (kind == "IEND") return colour == is_indexed && out.palette.empty() ? PngPixels() : out;
    if (kind == "IDAT") {
      out.pieces.push_back(data);
    } else if (kind == "PLTE" && colour == is_indexed) {
      const bool is_usual = out.palette.empty() && out.pieces.empty();
      if (!is_usual || length % 3 != 0 || length > size_t{3} << std::min(out.bits, 8)) return {};
      out.palette = data;
    } else if (kind == "tRNS") {
      const bool is_usual = colour == is_indexed && out.transparency.empty() && out.pieces.empty();
      if (!is_usual || length == 0 || 3 * length > out.palette.size()) return {};
      out.transparency = data;
    } else if ((kind == "IHDR" && at != 8) || (kind[0] < 'a' && kind != "IHDR" && kind != "PLTE")) {
      return {};
    }
    at += length + 12;
  }
  return {};
}

// As PackedPicture has it: opaque where nothing else is said; black behind the palette's end.
std::vector<std::uint32_t> packed_palette(const PngPixels& pixels) {
  std::vector<std::uint32_t> out(256, 0xff000000u);
  const auto byte = [](InputBytes of, size_t i) { return std::to_integer<std::uint32_t>(of[i]); };
  for (size_t i = 0; i < pixels.palette.size() / 3; ++i) {
    for (size_t c = 0; c < 3; ++c) out[i] |= byte(pixels.palette, 3 * i + c) << (8 * c);
  }
  for (size_t i = 0; i < pixels.transparency.size(); ++i) {
    out[i] = (out[i] & 0xffffffu) | byte(pixels.transparency, i) << 24;
  }
  return out;
}

// Scratch memory from the program's allocator, which keeps it for the next picture.
HostImage scratch(MakeImage make_image, std::int64_t bytes) {
  return make_image({.cls = PixelClass::uint8, .channels = 1, .alpha = false, .white = 255},
                    {bytes, 1});
}

}  // namespace

std::optional<PackedPicture> scan_png(InputBytes bytes, const ImageInfo& info) {
  const PngPixels pixels = pixels_of(bytes);
  if (pixels.pieces.empty()) return {};
  PackedPicture out{.form = png_form(info.type, info.stored), .chunks = {}, .parts = pixels.pieces};
  out.form.bits = pixels.bits;
  if (!pixels.palette.empty()) {
    out.form.palette = true;
    out.form.channel_of = {0};
    out.palette = packed_palette(pixels);
  }
  out.chunks = {{.begin = 0, .bytes = out.data_bytes()}};
  return out;
}

std::optional<HostImage> decode_png_directly(InputBytes bytes, const ImageInfo& info,
                                             MakeImage make_image) {
  const PngPixels pixels = pixels_of(bytes);
  const Pieces& pieces = pixels.pieces;
  const bool has_bytes = pixels.bits >= 8 || info.type.cls == PixelClass::logical;
  if (pieces.empty() || !has_bytes || !pixels.palette.empty()) return {};
  Bytes joined;
  if (pieces.size() > 1) {
    for (const auto& piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
  }
  const InputBytes packed = pieces.size() > 1 ? InputBytes(joined) : pieces.front();
  const ImageType& type = info.type;
  const std::int64_t width = info.stored.width, height = info.stored.height;
  const bool one_bit = type.cls == PixelClass::logical;
  const bool wide = type.cls == PixelClass::uint16;
  const std::int64_t pixel = one_bit ? 1 : stored_bytes(type, 1);
  const std::int64_t row_bytes = one_bit ? (width + 7) / 8 : width * pixel;
  // A header may promise far more than there is: a byte of deflate gives at most 1032.
  const std::int64_t raw_bytes = (row_bytes + 1) * height;
  if (raw_bytes / 1032 > static_cast<std::int64_t>(packed.size()) + 1) return {};

  HostImage raw_image = scratch(make_image, raw_bytes);
  auto* raw = raw_image.planes.front().row_as<std::uint8_t>(0);
  const Made<libdeflate_decompressor, libdeflate_free_decompressor> inflate(
      libdeflate_alloc_decompressor());
  if (inflate == nullptr) throw std::bad_alloc();
  if (libdeflate_zlib_decompress(inflate.get(), packed.data(), packed.size(), raw,
                                 static_cast<size_t>(raw_bytes), nullptr) != LIBDEFLATE_SUCCESS) {
    return {};
  }

  HostImage image = make_image(type, info.stored);
  const std::vector<std::uint8_t> zeros(static_cast<size_t>(row_bytes));
  const bool as_stored = type.cls == PixelClass::uint8 && stored_channels(type) == 1;
  std::vector<std::uint16_t> words(wide ? static_cast<size_t>(row_bytes / 2) : 0);
  RowSplitter splitter(image);
  const auto put = [&](const std::uint8_t* row, std::int64_t y) {
    if (one_bit) {
      unpack_bits(row, image.planes.front().row_as<std::uint8_t>(y), width);
    } else if (wide) {
      std::memcpy(words.data(), row, static_cast<size_t>(row_bytes));
      swap_word_bytes(words.data(), words.data(), row_bytes / 2);
      splitter.put(words.data(), y);
    } else if (!as_stored) {
      splitter.put(row, y);
    }
  };
  const std::int64_t stride = row_bytes + 1;
  const std::int64_t to_stride = as_stored ? image.planes.front().stride() : stride;
  const std::uint8_t* above = zeros.data();
  for (std::int64_t y = 0; y < height; y += unfiltered_rows) {
    const std::int64_t rows = std::min(unfiltered_rows, height - y);
    std::uint8_t* from = raw + y * stride;
    std::uint8_t* to = as_stored ? image.planes.front().row_as<std::uint8_t>(y) : from + 1;
    if (!unfilter_rows({from, stride, rows, row_bytes}, to, to_stride, above, pixel)) return {};
    for (std::int64_t r = 0; r < rows; ++r) put(to + r * to_stride, y + r);
    above = to + (rows - 1) * to_stride;
  }
  return image;
}

}  // namespace impipe::io
