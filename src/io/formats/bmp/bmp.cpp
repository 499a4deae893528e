// The pixels of BMP files, read and written without the codec module: palettes, channels of any
// bits, run lengths.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/interleave.hpp"
#include "io/bytes/bits.hpp"
#include "io/formats/bmp/bmp_layout.hpp"

namespace impipe::io {
namespace {

using Row = const std::uint8_t*;

// Puts a row of the file, as it lies there, into a row of the image.
class RowReader {
 public:
  RowReader(const BmpHeader& header, HostImage& image) : header_(header), image_(image) {
    for (size_t c = 0; c < 4; ++c) {
      const std::uint32_t mask = header.masks[c];
      if (mask == 0) continue;
      shift_[c] = std::countr_zero(mask);
      top_[c] = mask >> shift_[c];
      if (top_[c] > 65535) continue;
      table_[c].resize(top_[c] + 1);
      for (std::uint32_t v = 0; v <= top_[c]; ++v) table_[c][v] = to_8_bits(v, top_[c]);
    }
  }

  void read(Row from, std::int64_t y) const {
    switch (header_.bits) {
      case 8: return read_indices(from, y);
      case 16: return read_masked(from, y, 2);
      case 24: return read_colours(from, y);
      case 32: return read_masked(from, y, 4);
      default: {
        std::vector<std::uint8_t> indices(static_cast<size_t>(image_.size().width));
        const int bits = header_.bits;
        for (size_t x = 0; x < indices.size(); ++x) {
          const size_t bit = x * static_cast<size_t>(bits);
          indices[x] = static_cast<std::uint8_t>((from[bit / 8] >> (8 - bits - bit % 8)) &
                                                 ((1 << bits) - 1));
        }
        return read_indices(indices.data(), y);
      }
    }
  }

  // One byte a pixel: its place in the palette.
  void read_indices(Row indices, std::int64_t y) const {
    const auto count = header_.palette.size();
    const int divisor = image_.type.cls == PixelClass::logical ? 255 : 1;
    for (std::int64_t x = 0; x < image_.size().width; ++x) {
      if (indices[x] >= count) {
        fail("damaged BMP: a pixel has colour ", indices[x], " of a palette of ", count);
      }
    }
    for (size_t c = 0; c < image_.planes.size(); ++c) {
      auto* to = row(c, y);
      for (std::int64_t x = 0; x < image_.size().width; ++x) {
        to[x] = static_cast<std::uint8_t>(header_.palette[indices[x]][c] / divisor);
      }
    }
  }

  // Three bytes a pixel: blue, green, red.
  void read_colours(Row from, std::int64_t y) const {
    std::byte* const rows[] = {image_.planes[2].row(y), image_.planes[1].row(y),
                               image_.planes[0].row(y)};
    split_row(rows, reinterpret_cast<const std::byte*>(from), 3, 1, image_.size().width);
  }

 private:
  std::uint8_t* row(size_t channel, std::int64_t y) const {
    return image_.planes[channel].row_as<std::uint8_t>(y);
  }

  // v of 0 … top on 0 … 255, rounded half up, so that the largest value is 255.
  static std::uint8_t to_8_bits(std::uint64_t v, std::uint64_t top) {
    return static_cast<std::uint8_t>((v * 510 + top) / (2 * top));
  }

  std::uint8_t channel(std::uint32_t pixel, size_t c) const {
    if (top_[c] == 0) return 0;  // the mask has no bits
    const std::uint32_t v = (pixel >> shift_[c]) & top_[c];
    return table_[c].empty() ? to_8_bits(v, top_[c]) : table_[c][v];
  }

  void read_masked(Row from, std::int64_t y, int bytes) const {
    std::uint8_t* const to[] = {row(0, y), row(1, y), row(2, y)};
    auto* alpha = image_.type.alpha ? image_.alpha.row_as<std::uint8_t>(y) : nullptr;
    for (std::int64_t x = 0; x < image_.size().width; ++x, from += bytes) {
      std::uint32_t pixel = static_cast<std::uint32_t>(from[0]) | std::uint32_t{from[1]} << 8;
      if (bytes == 4) pixel |= std::uint32_t{from[2]} << 16 | std::uint32_t{from[3]} << 24;
      for (size_t c = 0; c < 3; ++c) to[c][x] = channel(pixel, c);
      if (alpha != nullptr) alpha[x] = channel(pixel, 3);
    }
  }

  const BmpHeader& header_;
  HostImage& image_;
  std::array<int, 4> shift_{};
  std::array<std::uint32_t, 4> top_{};  // the largest value of each channel
  std::array<std::vector<std::uint8_t>, 4> table_;
};

// Undoes run lengths, row after row. Pixels that the codes leave out have colour 0.
class RunReader {
 public:
  RunReader(std::span<const std::byte> codes, const BmpHeader& header, const RowReader& rows)
      : codes_(codes),
        header_(header),
        rows_(rows),
        size_(header.info.stored),
        pixel_bytes_(header.coding == BmpCoding::rle24 ? 3 : 1),
        packed_width_(packed_width(header)),
        row_(static_cast<size_t>(packed_width_) * pixel_bytes_) {}

  void read() {
    for (;;) {
      if (at_ + 2 > codes_.size() && y_ + (x_ >= size_.width ? 1 : 0) >= size_.height) break;
      const unsigned count = next();
      if (count > 0) {
        read_run(count);
        continue;
      }
      const unsigned code = next();
      if (code == 1) break;
      if (code == 0) {
        advance(0, 1);
      } else if (code == 2) {
        const unsigned right = next();
        advance(x_ + right, next());
      } else {
        read_pixels(code);
      }
    }
    advance(0, size_.height - std::min(y_, size_.height));
  }

 private:
  // GraphicsMagick and others pack what fills a row up to a multiple of four bytes as well.
  static std::int64_t packed_width(const BmpHeader& header) {
    const std::int64_t width = header.info.stored.width;
    if (header.coding == BmpCoding::rle24) return width;
    const std::int64_t step = header.coding == BmpCoding::rle4 ? 8 : 4;
    return (width + step - 1) / step * step;
  }

  unsigned next() {
    if (at_ >= codes_.size()) fail("truncated BMP: its runs end before the last pixel");
    return static_cast<unsigned>(codes_[at_++]);
  }

  // Ends `rows` rows and goes to `x`.
  void advance(std::int64_t x, std::int64_t rows) {
    for (; rows > 0 && y_ < size_.height; --rows) {
      const std::int64_t y = header_.top_down ? y_ : size_.height - 1 - y_;
      if (pixel_bytes_ == 3) {
        rows_.read_colours(row_.data(), y);
      } else {
        rows_.read_indices(row_.data(), y);
      }
      std::ranges::fill(row_, std::uint8_t{0});
      ++y_;
    }
    x_ = x;
  }

  void put(const std::uint8_t* pixel) {
    if (x_ >= packed_width_ || y_ >= size_.height) {
      fail("damaged BMP: a run goes past the ",
           y_ < size_.height ? "end of row " + std::to_string(y_) : "last row");
    }
    std::memcpy(row_.data() + static_cast<size_t>(x_++) * pixel_bytes_, pixel, pixel_bytes_);
  }

  void read_run(unsigned count) {
    std::uint8_t pixel[3];
    for (size_t i = 0; i < pixel_bytes_; ++i) pixel[i] = static_cast<std::uint8_t>(next());
    const bool two = header_.coding == BmpCoding::rle4;
    const std::uint8_t pair[2] = {static_cast<std::uint8_t>(pixel[0] >> 4),
                                  static_cast<std::uint8_t>(pixel[0] & 15)};
    for (unsigned i = 0; i < count; ++i) put(two ? pair + i % 2 : pixel);
  }

  // Pixels as they are; the next code begins at an even place.
  void read_pixels(unsigned count) {
    const size_t begin = at_;
    if (header_.coding == BmpCoding::rle4) {
      for (unsigned i = 0; i < count; i += 2) {
        const unsigned byte = next();
        const std::uint8_t pair[2] = {static_cast<std::uint8_t>(byte >> 4),
                                      static_cast<std::uint8_t>(byte & 15)};
        put(pair);
        if (i + 1 < count) put(pair + 1);
      }
    } else {
      for (unsigned i = 0; i < count; ++i) {
        std::uint8_t pixel[3];
        for (size_t k = 0; k < pixel_bytes_; ++k) pixel[k] = static_cast<std::uint8_t>(next());
        put(pixel);
      }
    }
    if ((at_ - begin) % 2 != 0 && at_ < codes_.size()) ++at_;
  }

  std::span<const std::byte> codes_;
  const BmpHeader& header_;
  const RowReader& rows_;
  Size size_;
  size_t pixel_bytes_;
  std::int64_t packed_width_;  // pixels that the codes of a row may make
  std::vector<std::uint8_t> row_;
  size_t at_ = 0;
  std::int64_t x_ = 0, y_ = 0;
};

// Before any memory is taken: whether the file can hold what its header promises.
void check_length(const BmpHeader& header, std::int64_t has) {
  const Size size = header.info.stored;
  if (header.coding == BmpCoding::plain) {
    // Some writers leave out what fills the last row up.
    const std::int64_t needs =
        header.data + header.row_bytes * (size.height - 1) + (size.width * header.bits + 7) / 8;
    if (has < needs) fail("truncated BMP: ", has, " bytes, ", needs, " needed");
    return;
  }
  // A code of two bytes makes at most 255 pixels.
  const std::int64_t codes = std::max<std::int64_t>(has - header.data, 0);
  if (size.pixels() / 128 > codes) {
    fail("truncated BMP: ", codes, " bytes of runs for ", size.pixels(), " pixels");
  }
}

void write_row(const HostImage& image, std::int64_t y, std::uint8_t* to) {
  const std::int64_t width = image.size().width;
  const Plane& first = image.planes.front();
  if (image.type.cls == PixelClass::logical) {
    return pack_bits(first.row_as<std::uint8_t>(y), to, width);
  }
  const bool alpha = image.type.alpha;
  std::vector<const std::byte*> rows(1, first.row(y));
  // Blue, green, red; gray beside an alpha is a colour.
  if (image.type.channels == 3) {
    rows = {image.planes[2].row(y), image.planes[1].row(y), first.row(y)};
  } else if (alpha) {
    rows.assign(3, first.row(y));
  }
  if (alpha) rows.push_back(image.alpha.row(y));
  join_row(reinterpret_cast<std::byte*>(to), rows.data(), static_cast<int>(rows.size()), 1, width);
}

}  // namespace

HostImage decode_bmp(const DecodeInput& input, Decoded&) {
  const std::span<const std::byte> bytes = input.file;
  const BmpHeader header = bmp_layout(ByteSource(bytes));
  check_length(header, static_cast<std::int64_t>(bytes.size()));
  HostImage image(header.info.type, header.info.stored);
  const RowReader rows(header, image);
  const auto pixels = bytes.subspan(std::min(static_cast<size_t>(header.data), bytes.size()));
  if (header.coding != BmpCoding::plain) {
    RunReader(pixels, header, rows).read();
    return image;
  }
  const std::int64_t height = image.size().height;
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t stored = header.top_down ? y : height - 1 - y;
    rows.read(reinterpret_cast<Row>(pixels.data()) + stored * header.row_bytes, y);
  }
  return image;
}

// Windows' third header; its fourth, which has a mask for it, where there is an alpha.
Bytes encode_bmp(HostImage& image, const EncodeInput&, Encoded&) {
  const Size size = image.size();
  const bool alpha = image.type.alpha;
  const int bits = alpha                                   ? 32
                   : image.type.channels == 3              ? 24
                   : image.type.cls == PixelClass::logical ? 1
                                                           : 8;
  const std::uint64_t colours = bits <= 8 ? std::uint64_t{1} << bits : 0;
  const std::uint64_t header_bytes = alpha ? 108 : 40;
  const std::uint64_t data = 14 + header_bytes + 4 * colours;
  const auto row_bytes = static_cast<std::uint64_t>((size.width * bits + 31) / 32 * 4);
  const std::uint64_t total = data + row_bytes * static_cast<std::uint64_t>(size.height);
  if (total > 0xffffffff) fail("too large for BMP, whose files have at most 4 GiB");
  const auto side = [](std::int64_t n) { return little(static_cast<std::uint64_t>(n), 4); };
  std::string head = "BM" + little(total, 4) + little(0, 4) + little(data, 4);
  head += little(header_bytes, 4) + side(size.width) + side(size.height);
  head += little(1, 2) + little(static_cast<std::uint64_t>(bits), 2);
  head += little(alpha ? 3 : 0, 4) + little(total - data, 4);  // 3: masks
  head += little(0, 8);                                        // pixels a metre: unknown
  head += little(colours, 4) + little(0, 4);
  if (alpha) {
    for (const auto mask : {0xff0000u, 0xff00u, 0xffu, 0xff000000u}) head += little(mask, 4);
    head += "BGRs" + std::string(48, '\0');  // sRGB, without end points and gammas
  }
  for (std::uint64_t i = 0; i < colours; ++i) head += little(i * 255 / (colours - 1) * 0x010101, 4);
  Bytes out(total);
  std::ranges::copy(std::as_bytes(std::span(head)), out.begin());
  auto* row = reinterpret_cast<std::uint8_t*>(out.data() + data);
  for (std::int64_t y = size.height - 1; y >= 0; --y, row += row_bytes) write_row(image, y, row);
  return out;
}

}  // namespace impipe::io
