// TGA files (Truevision, version 2.0), read and written without the codec module.
#include <algorithm>
#include <cstring>

#include "io/formats/format_traits.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

struct TgaHeader {
  ImageInfo info;
  int kind = 2;                 // 1 palette, 2 colours, 3 gray
  bool packed = false;          // in run lengths
  int bits = 24, map_bits = 0;  // of a pixel; of a colour of the palette
  int map_first = 0, map_count = 0;
  bool top_down = false, right_to_left = false;
  bool premultiplied = false;
  // A byte a pixel differs, and is no alpha by the extension area.
  bool fourth_left_out = false;
  std::int64_t map = 0, data = 0;  // offsets
};
constexpr std::int64_t header_bytes = 18;

std::uint8_t five_bits(unsigned value) {
  return static_cast<std::uint8_t>(((value & 31) * 255 + 15) / 31);
}

// Undoes run lengths and palettes: pixels as the image has them, red first.
class PixelReader {
 public:
  PixelReader(std::span<const std::byte> bytes, const TgaHeader& header)
      : bytes_(bytes),
        header_(header),
        at_(static_cast<size_t>(header.data)),
        pixel_bytes_(static_cast<size_t>((header.bits + 7) / 8)),
        channels_(static_cast<size_t>(stored_channels(header.info.type))) {}

  void read(std::uint8_t* to) {
    if (header_.packed && left_ == 0) {
      const unsigned packet = std::to_integer<unsigned>(take(1)[0]);
      left_ = (packet & 127) + 1;
      repeats_ = (packet & 128) != 0;
      if (repeats_) same_ = take(pixel_bytes_);
    }
    if (header_.packed) --left_;
    const std::byte* from = header_.packed && repeats_ ? same_ : take(pixel_bytes_);
    if (header_.kind == 3) {
      std::memcpy(to, from, channels_);
    } else if (header_.kind == 1) {
      colour(palette(std::to_integer<int>(*from)), header_.map_bits, to);
    } else {
      colour(from, header_.bits, to);
    }
  }

 private:
  const std::byte* take(size_t count) {
    if (count > bytes_.size() - std::min(at_, bytes_.size())) {
      fail("truncated TGA: it ends at byte ", bytes_.size());
    }
    at_ += count;
    return bytes_.data() + at_ - count;
  }
  const std::byte* palette(int index) const {
    const int entry = index - header_.map_first;
    if (entry < 0 || entry >= header_.map_count) {
      fail("damaged TGA: colour ", index, " is not in its palette");
    }
    return bytes_.data() + header_.map + entry * ((header_.map_bits + 7) / 8);
  }
  void colour(const std::byte* from, int bits, std::uint8_t* to) const {
    const auto byte = [&](size_t i) { return std::to_integer<std::uint8_t>(from[i]); };
    if (bits <= 16) {
      const unsigned word = byte(0) | unsigned{byte(1)} << 8;
      for (unsigned c = 0; c < 3; ++c) to[c] = five_bits(word >> (10 - 5 * c));
      if (channels_ == 4) to[3] = (word & 0x8000) != 0 ? 255 : 0;
      return;
    }
    for (size_t c = 0; c < 3; ++c) to[c] = byte(2 - c);
    if (channels_ == 4) to[3] = byte(3);
  }

  std::span<const std::byte> bytes_;
  const TgaHeader& header_;
  size_t at_;
  size_t pixel_bytes_, channels_;
  unsigned left_ = 0;  // pixels of the packet
  bool repeats_ = false;
  const std::byte* same_ = nullptr;
};

// The last bytes of a TGA 2.0: the offsets of its extension area and of its developer's; empty of
// another.
std::string footer_of(const ByteSource& source) {
  constexpr std::int64_t footer_bytes = 26;
  std::string footer = source.read_some(source.size() - footer_bytes, footer_bytes);
  return footer.size() == footer_bytes && footer.compare(8, 16, "TRUEVISION-XFILE") == 0 ? footer
                                                                                         : "";
}

// What the extension area of a TGA 2.0 says of the fourth byte: 3 opacity, 4 opacity that the
// colours are multiplied with, below that nothing of use; -1 without that area.
int attributes_of(const ByteSource& source) {
  constexpr std::int64_t attributes_at = 494;
  const auto area = static_cast<std::int64_t>(little_at(footer_of(source), 0, 4));
  const std::string kind = area == 0 ? "" : source.read_some(area + attributes_at, 1);
  return kind.empty() ? -1 : static_cast<int>(big_at(kind, 0, 1));
}

// Whether the fourth bytes of the pixels are not all alike: many writers have alpha there and say
// nothing of it, and others leave it 0 or 255.
bool fourth_bytes_differ(const ByteSource& source, const TgaHeader& header, std::int64_t pixels) {
  constexpr size_t pixel_bytes = 4;
  const std::string data = source.read_some(header.data, source.size() - header.data);
  std::int64_t known = 0;
  for (size_t at = 0; at < data.size() && known < pixels;) {
    size_t count = 1;
    if (header.packed) {
      const unsigned packet = static_cast<unsigned char>(data[at++]);
      known += (packet & 127) + 1;
      if ((packet & 128) == 0) count = packet + 1;
    } else {
      ++known;
    }
    for (; count > 0 && at + pixel_bytes <= data.size(); --count, at += pixel_bytes) {
      if (data[at + 3] != data[static_cast<size_t>(header.packed ? 4 : 3)]) return true;
    }
    if (count > 0) break;
  }
  return false;
}

// Colours that were multiplied with their alpha become straight.
void divide_by_alpha(std::vector<std::uint8_t>& row) {
  for (size_t at = 0; at < row.size(); at += 4) {
    const int alpha = row[at + 3];
    for (size_t c = 0; alpha > 0 && c < 3; ++c) {
      row[at + c] =
          static_cast<std::uint8_t>(std::min((row[at + c] * 255 + alpha / 2) / alpha, 255));
    }
  }
}

// The extension area knows best, then the header's number of attribute bits, then the pixels.
bool has_alpha(const ByteSource& source, TgaHeader& header, int bits, int attribute_bits) {
  const int attributes = attributes_of(source);
  header.premultiplied = attributes == 4;
  if (bits == 16) return attribute_bits != 0 && (attributes < 0 || attributes >= 3);
  if (bits != 32 || attributes >= 3) return bits == 32;
  if (attributes < 0 && attribute_bits != 0) return true;
  const bool differ =
      header.kind == 2 && fourth_bytes_differ(source, header, header.info.stored.pixels());
  header.fourth_left_out = differ && attributes >= 0;
  return differ && attributes < 0;
}

TgaHeader tga_header(const ByteSource& source) {
  const std::string head = source.read(0, header_bytes);
  const auto number = [&](size_t at, int bytes) {
    return static_cast<int>(little_at(head, at, bytes));
  };
  TgaHeader header;
  header.kind = number(2, 1) & 7;
  header.packed = (number(2, 1) & 8) != 0;
  header.map_first = number(3, 2);
  header.map_count = header.kind == 1 ? number(5, 2) : 0;
  header.map_bits = number(7, 1);
  header.bits = number(16, 1);
  const int flags = number(17, 1);
  header.right_to_left = (flags & 0x10) != 0;
  header.top_down = (flags & 0x20) != 0;
  header.map = header_bytes + number(0, 1);
  header.data = header.map + std::int64_t{header.map_count} * ((header.map_bits + 7) / 8);
  ImageInfo& info = header.info;
  info.stored = {number(12, 2), number(14, 2)};
  const int bits = header.kind == 1 ? header.map_bits : header.bits;
  const bool alpha = has_alpha(source, header, bits, flags & 15);
  info.type = type_of(PixelClass::uint8, header.kind == 3 ? 1 : 3,
                      alpha || (header.kind == 3 && bits == 16));
  info.detail = depth_text(header.bits) + (header.kind == 1 ? " palette" : "") +
                (header.packed ? ", run lengths" : "");
  // A packet of run lengths stands for at most 128 pixels.
  const std::int64_t pixel = (header.bits + 7) / 8, count = info.stored.pixels();
  info.min_bytes =
      header.data + (header.packed ? (count + 127) / 128 * (1 + pixel) : count * pixel);
  info.min_why = header.packed ? "run lengths pack at most 128 pixels" : "";
  return header;
}

HostImage decode(const DecodeInput& input, Decoded&) {
  const TgaHeader header = tga_header(ByteSource(input.file));
  const Size size = header.info.stored;
  HostImage image(header.info.type, size);
  RowSplitter splitter(image);
  const auto channels = static_cast<size_t>(stored_channels(image.type));
  const auto width = static_cast<size_t>(size.width);
  std::vector<std::uint8_t> row(channels * width);
  PixelReader reader(input.file, header);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      reader.read(row.data() + channels * (header.right_to_left ? width - 1 - x : x));
    }
    if (header.premultiplied && channels == 4) divide_by_alpha(row);
    splitter.put(row.data(), header.top_down ? y : size.height - 1 - y);
  }
  return image;
}

Bytes encode(HostImage& image, const EncodeInput&, Encoded&) {
  const Size size = image.size();
  const int channels = stored_channels(image.type);
  Bytes out(header_bytes);
  const auto put = [&](size_t at, std::int64_t value) { out[at] = static_cast<std::byte>(value); };
  put(2, image.type.channels == 1 ? 3 : 2);
  put(12, size.width);
  put(13, size.width >> 8);
  put(14, size.height);
  put(15, size.height >> 8);
  put(16, 8 * channels);
  put(17, 0x20 | (image.type.alpha ? 8 : 0));  // from the top
  append_rows(out, image, 0, size.height, 1);
  if (image.type.channels == 3) {
    for (size_t at = header_bytes; at < out.size(); at += static_cast<size_t>(channels)) {
      std::swap(out[at], out[at + 2]);
    }
  }
  return out;
}

// A text of a field of fixed length, without what fills it up.
std::string field_at(const std::string& area, size_t at, size_t length) {
  const std::string field = at < area.size() ? area.substr(at, length) : "";
  const std::string text = field.substr(0, field.find('\0'));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// The extension area of TGA 2.0 (Truevision, 1991), by the offsets of its fields.
void read_tga_extension(const std::string& area, MetadataRead& out) {
  constexpr size_t author = 2, comment = 43, date = 367, job = 379, aspect = 474, gamma = 478,
                   corrections = 482, stamp = 486;
  constexpr size_t name_length = 41, line_length = 81;
  if (!field_at(area, author, name_length).empty()) out.lose("its author's name");
  std::string lines;
  for (size_t line = 0; line < 4; ++line) {
    const std::string text = field_at(area, comment + line * line_length, line_length);
    if (!text.empty()) lines += (lines.empty() ? "" : "\n") + text;
  }
  if (!lines.empty()) out.metadata.comments.push_back(lines);
  if (little_at(area, date, 6) != 0) out.lose("its date");
  if (!field_at(area, job, name_length).empty()) out.lose("its job's name");
  const auto width = static_cast<double>(little_at(area, aspect, 2));
  const auto height = static_cast<double>(little_at(area, aspect + 2, 2));
  if (width > 0 && height > 0 && width != height) {
    // The wider the pixels, the fewer.
    out.metadata.resolution = Resolution{height, width, Resolution::Unit::none};
  }
  const std::uint64_t divisor = little_at(area, gamma + 2, 2);
  if (divisor != 0 && little_at(area, gamma, 2) != divisor) out.lose("its gamma");
  if (little_at(area, corrections, 4) != 0) out.lose("its table of colours to be corrected");
  if (little_at(area, stamp, 4) != 0) out.lose("a thumbnail");
}

MetadataRead read_metadata(const MetadataInput& input) {
  constexpr std::int64_t area_bytes = 495;
  const ByteSource source(input.file);
  MetadataRead out;
  const auto id_bytes = static_cast<std::int64_t>(big_at(source.read_some(0, 1), 0, 1));
  const std::string id = field_at(source.read_some(header_bytes, id_bytes), 0, 255);
  if (!id.empty()) out.metadata.comments.push_back(id);
  const std::string footer = footer_of(source);
  if (footer.empty()) return out;
  const auto area = static_cast<std::int64_t>(little_at(footer, 0, 4));
  if (area > 0) read_tga_extension(source.read_some(area, area_bytes), out);
  if (little_at(footer, 4, 4) != 0) out.lose("its developer's area");
  if (tga_header(source).fourth_left_out)
    out.lose("a fourth byte a pixel that it says is no alpha");
  return out;
}

// TGA has no signature, and so its header must be free of contradictions.
bool is_tga(std::string_view head) {
  if (head.size() < static_cast<size_t>(header_bytes)) return false;
  const auto at = [&](size_t i) { return static_cast<unsigned char>(head[i]); };
  const int kind = at(2) & 7, bits = at(16), map_bits = at(7);
  const bool has_size = at(12) + at(13) > 0 && at(14) + at(15) > 0;
  if ((at(2) & ~11) != 0 || (at(17) & 0xc0) != 0 || !has_size) return false;
  const auto is_colour = [](int n) { return n == 15 || n == 16 || n == 24 || n == 32; };
  if (kind == 1) return at(1) == 1 && bits == 8 && is_colour(map_bits) && at(5) + at(6) > 0;
  if (at(1) != 0 || at(3) + at(4) + at(5) + at(6) + at(7) != 0) return false;
  return kind == 2 ? is_colour(bits) : kind == 3 && (bits == 8 || bits == 16);
}

}  // namespace

const FormatTraits tga_format{
    .format = Format::tga,
    .name = "TGA",
    .extensions = "tga",
    .can = {Can::eight, Can::alpha},
    .longest_side = 65535,
    .sniff = is_tga,
    .header = [](const HeaderInput& input) { return tga_header(input.source).info; },
    .decode = decode,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
