// Reads the headers of the formats that the codec module decodes: enough to know the image's type
// and size before anything is allocated.
#include "io/headers.hpp"

#include <algorithm>
#include <optional>

#include "io/module.hpp"
#include "io/orientation.hpp"

namespace impipe::io {
namespace {

// One entry of a TIFF directory; `at` is the index-th of its values.
struct TiffEntry {
  std::uint64_t type = 0;
  std::uint64_t count = 0;
  std::string values;        // the first values, at most 64 bytes
  std::int64_t offset = -1;  // of all values, when they are not in the entry itself
  bool big_endian = false;
  std::uint64_t at(std::uint64_t index = 0) const {
    const int bytes = type == 3 ? 2 : type == 1 || type == 7 ? 1 : type == 16 ? 8 : 4;
    return index < count ? number_at(values, index * static_cast<size_t>(bytes), bytes, big_endian)
                         : 0;
  }
};

constexpr int tiff_type_bytes(std::uint64_t type) {
  constexpr int sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < std::size(sizes) ? sizes[type] : 0;
}

// Calls visit(tag, entry) for the entries of the first directory.
template <class Visit>
void visit_tiff(const ByteSource& source, Visit visit) {
  const std::string head = source.read(0, 8);
  const bool big_endian = head[0] == 'M';
  const bool big_tiff = number_at(head, 2, 2, big_endian) == 43;
  const auto number = [&](const std::string& t, size_t at, int n) {
    return number_at(t, at, n, big_endian);
  };
  const auto directory =
      static_cast<std::int64_t>(big_tiff ? number(source.read(8, 8), 0, 8) : number(head, 4, 4));
  const int count_bytes = big_tiff ? 8 : 2;
  const std::uint64_t count = number(source.read(directory, count_bytes), 0, count_bytes);
  if (count > 4096)
    fail("damaged TIFF: its directory claims " + std::to_string(count) + " entries");
  const int entry_bytes = big_tiff ? 20 : 12;
  const std::string entries =
      source.read(directory + count_bytes, static_cast<std::int64_t>(count) * entry_bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const size_t at = i * static_cast<size_t>(entry_bytes);
    TiffEntry entry;
    entry.big_endian = big_endian;
    entry.type = number(entries, at + 2, 2);
    entry.count = number(entries, at + 4, big_tiff ? 8 : 4);
    const size_t value_at = at + (big_tiff ? 12 : 8);
    const size_t inline_bytes = big_tiff ? 8 : 4;
    const std::uint64_t bytes = std::min<std::uint64_t>(entry.count, 64) *
                                static_cast<std::uint64_t>(tiff_type_bytes(entry.type));
    if (entry.count * static_cast<std::uint64_t>(tiff_type_bytes(entry.type)) <= inline_bytes) {
      entry.values = entries.substr(value_at, inline_bytes);
    } else {
      entry.offset =
          static_cast<std::int64_t>(number(entries, value_at, static_cast<int>(inline_bytes)));
      entry.values = source.read_some(
          entry.offset, static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, 64)));
    }
    visit(number(entries, at, 2), entry);
  }
}

int valid_orientation(std::uint64_t value) {
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

ImageType type_of(PixelClass cls, int channels, bool alpha) {
  return {.cls = cls, .channels = channels, .alpha = alpha, .white = class_max(cls)};
}

}  // namespace

std::string depth_text(int bits, bool is_float) {
  return std::to_string(bits) + "-bit" + (is_float ? " float" : "");
}

int tiff_orientation(const ByteSource& source) {
  int orientation = 0;
  visit_tiff(source, [&](auto tag, const TiffEntry& entry) {
    if (tag == 274) orientation = valid_orientation(entry.at());
  });
  return orientation;
}

namespace {

// More than any text that says how a picture is to be turned.
constexpr std::int64_t most_text = 16 << 20;  // bytes

// Hears what a text chunk of a PNG says of the orientation.
void hear_png_text(const ByteSource& source, const std::string& kind, std::int64_t at,
                   std::int64_t length, SaidOrientation& said) {
  // A keyword has at most 79 characters and a zero.
  const std::string head = source.read_some(at, std::min<std::int64_t>(length, 80));
  const std::string keyword = head.substr(0, head.find('\0'));
  const bool xmp = keyword == "XML:com.adobe.xmp";
  const bool raw = keyword == "Raw profile type exif" || keyword == "Raw profile type APP1" ||
                   keyword == "Raw profile type xmp";
  if ((!xmp && !raw) || length > most_text) return;
  std::string text = source.read_some(at, length);
  size_t begin = keyword.size() + 1;
  bool packed = kind == "zTXt";
  if (packed) ++begin;  // the method
  if (kind == "iTXt") {
    packed = big_at(text, begin, 1) == 1;
    begin += 2;  // the flag and the method; then a language and the keyword in it
    for (int n = 0; n < 2; ++n) begin = std::min(text.find('\0', begin), text.size() - 1) + 1;
  }
  if (begin > text.size()) return;
  text.erase(0, begin);
  if (packed) text = codec_module(Format::png).inflate(text, most_text);
  if (xmp) {
    said.hear_xmp(text);
  } else {
    said.hear_raw_profile(keyword, text);
  }
}

}  // namespace

ImageInfo png_header(const ByteSource& source) {
  const std::string head = source.read(0, 33);
  if (head.compare(12, 4, "IHDR") != 0) fail("damaged PNG: no IHDR chunk");
  ImageInfo info{.format = Format::png};
  info.stored = {static_cast<std::int64_t>(big_at(head, 16, 4)),
                 static_cast<std::int64_t>(big_at(head, 20, 4))};
  const auto bits = static_cast<int>(big_at(head, 24, 1));
  const auto colour = static_cast<int>(big_at(head, 25, 1));
  bool transparency = false;
  SaidOrientation said;
  for (std::int64_t at = 33; at + 12 <= source.size();) {
    const std::string chunk = source.read(at, 8);
    const auto length = static_cast<std::int64_t>(big_at(chunk, 0, 4));
    const std::string kind = chunk.substr(4);
    if (kind == "tRNS") transparency = true;
    if (kind == "eXIf") said.hear_exif(source.read_some(at + 8, length));
    if (kind == "tEXt" || kind == "zTXt" || kind == "iTXt") {
      hear_png_text(source, kind, at + 8, length, said);
    }
    if (kind == "IEND") break;
    at += length + 12;
  }
  info.orientation = said.value();
  const bool alpha = colour == 4 || colour == 6 || transparency;
  const int channels = (colour & 2) != 0 ? 3 : 1;
  const PixelClass cls = bits == 16                           ? PixelClass::uint16
                         : bits == 1 && colour == 0 && !alpha ? PixelClass::logical
                                                              : PixelClass::uint8;
  info.type = type_of(cls, channels, alpha);
  info.detail = depth_text(bits) + (colour == 3 ? " palette" : "") +
                (big_at(head, 28, 1) != 0 ? ", interlaced" : "");
  return info;
}

namespace {

// The offset of the code of the next marker, found as libjpeg finds it: whatever lies between two
// segments, fill bytes and others, is passed over. Nothing at the end of the file.
std::optional<std::int64_t> next_jpeg_marker(const ByteSource& source, std::int64_t at) {
  constexpr std::int64_t piece = 4096;
  bool after_ff = false;
  while (true) {
    const std::string bytes = source.read_some(at, piece);
    if (bytes.empty()) return {};
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool ff = bytes[i] == '\xff';
      // FF 00 is no marker but a byte of data.
      if (after_ff && !ff && bytes[i] != '\0') return at + static_cast<std::int64_t>(i);
      after_ff = ff;
    }
    at += static_cast<std::int64_t>(bytes.size());
  }
}

}  // namespace

ImageInfo jpeg_header(const ByteSource& source) {
  constexpr std::string_view xmp_prefix{"http://ns.adobe.com/xap/1.0/\0", 29};
  constexpr int start_of_image = 0xd8, end_of_image = 0xd9, start_of_scan = 0xda;
  ImageInfo info{.format = Format::jpeg, .lossy = true};
  SaidOrientation said;
  bool ended = false;
  for (std::int64_t at = 2;;) {
    const auto marker = next_jpeg_marker(source, at);
    ended = !marker;
    if (ended) break;
    const auto code = static_cast<int>(big_at(source.read(*marker, 1), 0, 1));
    at = *marker + 1;
    if (code == start_of_scan || code == end_of_image || code == start_of_image) break;
    if (code == 0x01 || (code >= 0xd0 && code <= 0xd7)) continue;  // these have no segment
    const std::string size = source.read_some(at, 2);
    ended = size.size() < 2;
    if (ended) break;
    const auto length = static_cast<std::int64_t>(big_at(size, 0, 2));
    if (code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc) {
      const std::string frame = source.read(at + 2, 6);
      const auto components = static_cast<int>(big_at(frame, 5, 1));
      info.stored = {static_cast<std::int64_t>(big_at(frame, 3, 2)),
                     static_cast<std::int64_t>(big_at(frame, 1, 2))};
      info.type = type_of(PixelClass::uint8, components == 1 ? 1 : 3, false);
      info.detail = depth_text(static_cast<int>(big_at(frame, 0, 1))) +
                    (components == 4 ? " CMYK" : "") + (code == 0xc2 ? ", progressive" : "");
    }
    if (code == 0xe1) {
      const std::string body = source.read_some(at + 2, length - 2);
      if (body.starts_with("Exif")) said.hear_exif(body);
      if (body.starts_with(xmp_prefix)) said.hear_xmp(body);
    }
    at += length;
  }
  if (info.detail.empty()) {
    if (ended) source.read(source.size(), 1);  // throws: truncated
    fail("damaged JPEG: no frame header");
  }
  info.orientation = said.value();
  return info;
}

ImageInfo tiff_header(const ByteSource& source) {
  ImageInfo info{.format = Format::tiff};
  std::uint64_t bits = 1, samples = 1, sample_format = 1, photometric = 1, extra = 0;
  std::uint64_t compression = 1;
  SaidOrientation said;
  visit_tiff(source, [&](std::uint64_t tag, const TiffEntry& entry) {
    switch (tag) {
      case 256: info.stored.width = static_cast<std::int64_t>(entry.at()); break;
      case 257: info.stored.height = static_cast<std::int64_t>(entry.at()); break;
      case 258: bits = entry.at(); break;
      case 259: compression = entry.at(); break;
      case 262: photometric = entry.at(); break;
      case 274: said.exif = valid_orientation(entry.at()); break;
      case 277: samples = entry.at(); break;
      case 338: extra = entry.count; break;
      case 339: sample_format = entry.at(); break;
      case 700:
        said.hear_xmp(source.read_some(entry.offset, static_cast<std::int64_t>(std::min(
                                                         entry.count, std::uint64_t{most_text}))));
        break;
      default: break;
    }
  });
  info.orientation = said.value();
  const bool palette = photometric == 3;
  const bool grey = photometric <= 1;
  const bool is_float = sample_format == 3;
  const bool converted = !palette && !grey && photometric != 2;  // CMYK, YCbCr, Lab
  const PixelClass cls = is_float                               ? PixelClass::single
                         : bits == 1 && samples == 1 && grey    ? PixelClass::logical
                         : bits == 16 && !palette && !converted ? PixelClass::uint16
                                                                : PixelClass::uint8;
  if (sample_format == 2) fail("TIFF with signed samples is not supported");
  if (bits > 16 && !is_float) {
    fail("TIFF with " + std::to_string(bits) + "-bit integer samples is not supported");
  }
  const std::uint64_t colours = grey || palette ? 1 : 3;
  const bool alpha = extra > 0 && samples > colours && !converted;
  info.type = type_of(cls, grey ? 1 : 3, alpha);
  info.lossy = compression == 7 && !grey;
  info.detail = depth_text(static_cast<int>(bits), is_float) + (palette ? " palette" : "") +
                (photometric == 5   ? " CMYK"
                 : photometric == 6 ? " YCbCr"
                                    : "");
  return info;
}

ImageInfo bmp_header(const ByteSource& source) {
  ImageInfo info{.format = Format::bmp};
  const std::string head = source.read(0, 26);
  const bool old = little_at(head, 14, 4) == 12;
  const auto width = static_cast<std::int32_t>(little_at(head, 18, old ? 2 : 4));
  const auto height = static_cast<std::int32_t>(little_at(head, old ? 20 : 22, old ? 2 : 4));
  info.stored = {width, std::abs(std::int64_t{height})};
  const auto bits = static_cast<int>(little_at(source.read(old ? 24 : 28, 2), 0, 2));
  info.type = type_of(PixelClass::uint8, bits <= 8 ? 1 : 3, false);
  if (bits <= 8) {  // colours in the palette make it a colour image
    const std::int64_t header_bytes = old ? 12 : static_cast<std::int64_t>(little_at(head, 14, 4));
    std::int64_t colours =
        old ? 0 : static_cast<std::int64_t>(little_at(source.read_some(46, 4), 0, 4));
    if (colours <= 0 || colours > 256) colours = std::int64_t{1} << bits;
    const size_t entry = old ? 3 : 4;
    const std::string palette =
        source.read_some(14 + header_bytes, colours * static_cast<std::int64_t>(entry));
    for (size_t i = 0; i + entry <= palette.size(); i += entry) {
      if (palette[i] != palette[i + 1] || palette[i] != palette[i + 2]) info.type.channels = 3;
    }
  }
  info.detail = depth_text(bits) + (bits <= 8 ? " palette" : "");
  return info;
}

ImageInfo webp_header(const ByteSource& source) {
  ImageInfo info{.format = Format::webp};
  bool alpha = false;
  SaidOrientation said;
  for (std::int64_t at = 12; at + 8 <= source.size();) {
    const std::string chunk = source.read_some(at, 18);
    const auto length = static_cast<std::int64_t>(little_at(chunk, 4, 4));
    const std::string kind = chunk.substr(0, 4);
    if (kind == "VP8X") {
      alpha = (little_at(chunk, 8, 1) & 0x10) != 0;
      if ((little_at(chunk, 8, 1) & 0x02) != 0) fail("animated WebP is not supported");
      info.stored = {static_cast<std::int64_t>(little_at(chunk, 12, 3)) + 1,
                     static_cast<std::int64_t>(little_at(chunk, 15, 3)) + 1};
    } else if (kind == "VP8L" && chunk.size() >= 13) {
      const std::uint64_t word = little_at(chunk, 9, 4);
      if (info.stored.width == 0) {
        info.stored = {static_cast<std::int64_t>(word & 0x3fff) + 1,
                       static_cast<std::int64_t>((word >> 14) & 0x3fff) + 1};
      }
      alpha = alpha || ((word >> 28) & 1) != 0;
    } else if (kind == "VP8 " && chunk.size() >= 18) {
      info.lossy = true;
      if (info.stored.width == 0) {
        info.stored = {static_cast<std::int64_t>(little_at(chunk, 14, 2) & 0x3fff),
                       static_cast<std::int64_t>(little_at(chunk, 16, 2) & 0x3fff)};
      }
    } else if (kind == "EXIF") {
      said.hear_exif(source.read_some(at + 8, length));
    } else if (kind == "XMP ") {
      said.hear_xmp(source.read_some(at + 8, length));
    }
    at += 8 + length + (length & 1);
  }
  if (info.stored.width == 0) fail("truncated WebP: no image in it");
  info.orientation = said.value();
  info.type = type_of(PixelClass::uint8, 3, alpha);
  info.detail = std::string(info.lossy ? "lossy" : "lossless");
  return info;
}

ImageInfo exr_header(const ByteSource& source) {
  ImageInfo info{.format = Format::exr};
  const std::string head = source.read_some(0, 1 << 16);
  int channels = 0;
  bool alpha = false;
  for (size_t at = 8; at < head.size() && head[at] != 0;) {  // name, type, size, value
    const std::string name = head.c_str() + at;
    at += name.size() + 1;
    if (at >= head.size()) break;
    const std::string type = head.c_str() + at;
    at += type.size() + 1;
    const auto bytes = static_cast<size_t>(little_at(head, at, 4));
    at += 4;
    if (name == "channels") {
      for (size_t c = at; c < std::min(head.size(), at + bytes) && head[c] != 0;) {
        const std::string channel = head.c_str() + c;
        if (channel == "A") {
          alpha = true;
        } else {
          ++channels;
        }
        c += channel.size() + 1 + 16;
      }
    }
    if (name == "dataWindow") {
      const auto edge = [&](size_t i) {
        return std::int64_t{static_cast<std::int32_t>(little_at(head, at + 4 * i, 4))};
      };
      info.stored = {edge(2) - edge(0) + 1, edge(3) - edge(1) + 1};
    }
    at += bytes;
  }
  if (info.stored.width == 0) fail("truncated: the EXR header has no data window");
  info.type = type_of(PixelClass::single, channels >= 3 ? 3 : 1, alpha && channels >= 3);
  info.detail = "float";
  return info;
}

}  // namespace impipe::io
