// The common kinds of PNG by way of libdeflate, in about half of libpng's time. The format needs
// little beside the compression: chunks with a checksum, and rows stored as differences.
#include "io/module/png_direct.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "io/bits.hpp"
#include "io/pixel_rows.hpp"

namespace impipe::io {
namespace {

enum Filter : std::uint8_t { none, sub, up, average, paeth };

int paeth_of(int a, int b, int c) {
  const int pa = std::abs(b - c), pb = std::abs(a - c), pc = std::abs(a + b - 2 * c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
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
    case paeth: {
      std::uint8_t corner[pixel] = {};
      for (std::int64_t i = 0; i < count; i += pixel) {
        for (int b = 0; b < pixel; ++b) {
          const int top = above[i + b];
          left[b] = static_cast<std::uint8_t>(from[i + b] + paeth_of(left[b], top, corner[b]));
          corner[b] = static_cast<std::uint8_t>(top);
          to[i + b] = left[b];
        }
      }
      return true;
    }
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

void append_big(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

// Appends the length, the kind, `count` bytes written by `fill` and the checksum.
template <class Fill>
void append_chunk(Bytes& out, const char* kind, size_t count, Fill fill) {
  const size_t begin = out.size();
  append_big(out, 0);
  for (const char* c = kind; *c != '\0'; ++c) out.push_back(static_cast<std::byte>(*c));
  out.resize(begin + 8 + count);
  const size_t used = fill(out.data() + begin + 8);
  out.resize(begin + 8 + used);
  Bytes length;
  append_big(length, static_cast<std::uint32_t>(used));
  std::copy(length.begin(), length.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
  append_big(out, libdeflate_crc32(0, out.data() + begin + 4, used + 4));
}

// Stores the differences of one row of `count` bytes.
void filter_row(Filter filter, const std::uint8_t* row, const std::uint8_t* above, std::uint8_t* to,
                std::int64_t count, std::int64_t pixel) {
  switch (filter) {
    case sub:
      std::copy_n(row, pixel, to);
      for (std::int64_t i = pixel; i < count; ++i) {
        to[i] = static_cast<std::uint8_t>(row[i] - row[i - pixel]);
      }
      return;
    case up:
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<std::uint8_t>(row[i] - above[i]);
      }
      return;
    case average:
      for (std::int64_t i = 0; i < pixel; ++i) {
        to[i] = static_cast<std::uint8_t>(row[i] - (above[i] >> 1));
      }
      for (std::int64_t i = pixel; i < count; ++i) {
        to[i] = static_cast<std::uint8_t>(row[i] - ((row[i - pixel] + above[i]) >> 1));
      }
      return;
    default: std::copy_n(row, count, to);
  }
}

// Rows of an image as a PNG file has them: big-endian words, alpha beside the colours, 1-bit
// packed.
class StoredRows {
 public:
  explicit StoredRows(const HostImage& image)
      : image_(image),
        joiner_(image),
        one_bit_(image.type.cls == PixelClass::logical),
        wide_(image.type.cls == PixelClass::uint16) {}

  std::int64_t pixel_bytes() const { return one_bit_ ? 1 : stored_bytes(image_.type, 1); }
  std::int64_t row_bytes() const {
    const std::int64_t width = image_.size().width;
    return one_bit_ ? (width + 7) / 8 : width * pixel_bytes();
  }

  // Row `y`: in `memory`, or in the image when it is stored there just so.
  const std::uint8_t* row(std::int64_t y, std::uint8_t* memory) {
    const std::int64_t width = image_.size().width;
    if (one_bit_) {
      pack_bits(image_.planes.front().row_as<std::uint8_t>(y), memory, width);
      return memory;
    }
    if (wide_) {
      const auto* from = joiner_.row<std::uint16_t>(y);
      for (std::int64_t i = 0; i < row_bytes() / 2; ++i) {
        const auto swapped = static_cast<std::uint16_t>(from[i] << 8 | from[i] >> 8);
        std::memcpy(memory + 2 * i, &swapped, 2);
      }
      return memory;
    }
    if (stored_channels(image_.type) == 1) return image_.planes.front().row_as<std::uint8_t>(y);
    joiner_.copy(y, memory);
    return memory;
  }

 private:
  const HostImage& image_;
  RowJoiner joiner_;
  bool one_bit_;
  bool wide_;
};

// The filter whose differences need the fewest bits, by their entropy over one row in sixteen.
Filter best_filter(StoredRows& rows, std::int64_t height) {
  const std::int64_t count = rows.row_bytes();
  std::vector<std::uint8_t> memory(3 * static_cast<size_t>(count));
  std::uint8_t* differences = memory.data() + 2 * count;
  constexpr Filter filters[] = {none, sub, up, average};
  std::vector<std::uint32_t> histograms[4];
  for (auto& histogram : histograms) histogram.resize(256);
  for (std::int64_t y = std::min<std::int64_t>(8, height - 1); y < height; y += 16) {
    const std::uint8_t* above = rows.row(std::max<std::int64_t>(y - 1, 0), memory.data());
    const std::uint8_t* row = rows.row(y, memory.data() + count);
    for (int f = 0; f < 4; ++f) {
      filter_row(filters[f], row, above, differences, count, rows.pixel_bytes());
      for (std::int64_t i = 0; i < count; ++i) ++histograms[f][differences[i]];
    }
  }
  double least = 0;
  Filter best = none;
  for (int f = 0; f < 4; ++f) {
    double bits = 0;
    double total = 0;
    for (const std::uint32_t n : histograms[f]) {
      if (n > 0) bits -= n * std::log2(static_cast<double>(n));
      total += n;
    }
    bits += total * std::log2(total);
    if (f == 0 || bits < least) {
      least = bits;
      best = filters[f];
    }
  }
  return best;
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

Bytes encode_png_directly(const HostImage& image) {
  const Size size = image.size();
  StoredRows rows(image);
  const std::int64_t row_bytes = rows.row_bytes();
  const Filter filter =
      image.type.cls == PixelClass::logical ? none : best_filter(rows, size.height);
  const std::int64_t raw_bytes = (row_bytes + 1) * size.height;
  const std::unique_ptr<std::uint8_t[]> raw(new std::uint8_t[static_cast<size_t>(raw_bytes)]);
  std::vector<std::uint8_t> memory(2 * static_cast<size_t>(row_bytes));
  const std::vector<std::uint8_t> zeros(static_cast<size_t>(row_bytes));
  const std::uint8_t* above = zeros.data();
  for (std::int64_t y = 0; y < size.height; ++y) {
    const std::uint8_t* row = rows.row(y, memory.data() + y % 2 * row_bytes);
    std::uint8_t* to = raw.get() + y * (row_bytes + 1);
    *to++ = filter;
    filter_row(filter, row, above, to, row_bytes, rows.pixel_bytes());
    above = row;
  }
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> deflate(
      libdeflate_alloc_compressor(1), libdeflate_free_compressor);
  if (deflate == nullptr) throw std::bad_alloc();
  const size_t bound =
      libdeflate_zlib_compress_bound(deflate.get(), static_cast<size_t>(raw_bytes));
  if (bound > 0x7fffffff) return {};
  Bytes out;
  out.reserve(bound + 100);
  for (const char c : {'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'}) {
    out.push_back(static_cast<std::byte>(c));
  }
  append_chunk(out, "IHDR", 13, [&](std::byte* to) {
    Bytes header;
    append_big(header, static_cast<std::uint32_t>(size.width));
    append_big(header, static_cast<std::uint32_t>(size.height));
    const int bits = image.type.cls == PixelClass::logical  ? 1
                     : image.type.cls == PixelClass::uint16 ? 16
                                                            : 8;
    const int colour = (image.type.channels == 3 ? 2 : 0) | (image.type.alpha ? 4 : 0);
    for (const int v : {bits, colour, 0, 0, 0}) header.push_back(static_cast<std::byte>(v));
    std::copy(header.begin(), header.end(), to);
    return header.size();
  });
  append_chunk(out, "IDAT", bound, [&](std::byte* to) {
    return libdeflate_zlib_compress(deflate.get(), raw.get(), static_cast<size_t>(raw_bytes), to,
                                    bound);
  });
  append_chunk(out, "IEND", 0, [](std::byte*) { return size_t{0}; });
  return out;
}

}  // namespace impipe::io
