// Reads the headers of the formats that the codec module decodes: enough to know the image's type
// and size before anything is allocated.
#include "io/headers.hpp"

#include <algorithm>

namespace impipe::io {
namespace {

constexpr std::string_view exif_prefix{"Exif\0\0", 6};

// One entry of a TIFF directory; `at` is the index-th of its values.
struct TiffEntry {
  std::uint64_t type = 0;
  std::uint64_t count = 0;
  std::string values;  // the first values, at most 64 bytes
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
      const auto offset = number(entries, value_at, static_cast<int>(inline_bytes));
      entry.values =
          source.read_some(static_cast<std::int64_t>(offset),
                           static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, 64)));
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

int exif_orientation(const std::string& exif) {
  int orientation = 1;
  if (exif.size() < 8 || (exif.compare(0, 2, "II") != 0 && exif.compare(0, 2, "MM") != 0)) return 1;
  try {
    visit_tiff(ByteSource(std::as_bytes(std::span(exif))), [&](auto tag, const TiffEntry& entry) {
      if (tag == 274) orientation = valid_orientation(entry.at());
    });
  } catch (const Error&) {
    return 1;  // damaged metadata does not spoil a picture
  }
  return orientation;
}

ImageInfo png_header(const ByteSource& source) {
  const std::string head = source.read(0, 33);
  if (head.compare(12, 4, "IHDR") != 0) fail("damaged PNG: no IHDR chunk");
  ImageInfo info{.format = Format::png};
  info.stored = {static_cast<std::int64_t>(big_at(head, 16, 4)),
                 static_cast<std::int64_t>(big_at(head, 20, 4))};
  const auto bits = static_cast<int>(big_at(head, 24, 1));
  const auto colour = static_cast<int>(big_at(head, 25, 1));
  bool transparency = false;
  for (std::int64_t at = 33; at + 12 <= source.size();) {
    const std::string chunk = source.read(at, 8);
    const auto length = static_cast<std::int64_t>(big_at(chunk, 0, 4));
    if (chunk.compare(4, 4, "tRNS") == 0) transparency = true;
    if (chunk.compare(4, 4, "eXIf") == 0)
      info.orientation = exif_orientation(source.read_some(at + 8, length));
    if (chunk.compare(4, 4, "IEND") == 0) break;
    at += length + 12;
  }
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

ImageInfo jpeg_header(const ByteSource& source) {
  ImageInfo info{.format = Format::jpeg, .lossy = true};
  for (std::int64_t at = 2;;) {
    std::string marker = source.read(at, 4);
    if (marker[0] != '\xff') fail("damaged JPEG: no marker at byte " + std::to_string(at));
    const auto code = static_cast<int>(big_at(marker, 1, 1));
    if (code == 0xff) {  // fill bytes
      ++at;
      continue;
    }
    const auto length = static_cast<std::int64_t>(big_at(marker, 2, 2));
    if (code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc) {
      const std::string frame = source.read(at + 4, 6);
      const auto components = static_cast<int>(big_at(frame, 5, 1));
      info.stored = {static_cast<std::int64_t>(big_at(frame, 3, 2)),
                     static_cast<std::int64_t>(big_at(frame, 1, 2))};
      info.type = type_of(PixelClass::uint8, components == 1 ? 1 : 3, false);
      info.detail = depth_text(static_cast<int>(big_at(frame, 0, 1))) +
                    (components == 4 ? " CMYK" : "") + (code == 0xc2 ? ", progressive" : "");
      return info;
    }
    if (code == 0xe1) {
      const std::string body = source.read_some(at + 4, length - 2);
      if (body.starts_with(exif_prefix)) info.orientation = exif_orientation(body.substr(6));
    }
    if (code == 0xd9 || code == 0xda) fail("damaged JPEG: no frame header");
    at += length + 2;
  }
}

ImageInfo tiff_header(const ByteSource& source) {
  ImageInfo info{.format = Format::tiff};
  std::uint64_t bits = 1, samples = 1, sample_format = 1, photometric = 1, extra = 0;
  std::uint64_t compression = 1;
  visit_tiff(source, [&](std::uint64_t tag, const TiffEntry& entry) {
    switch (tag) {
      case 256: info.stored.width = static_cast<std::int64_t>(entry.at()); break;
      case 257: info.stored.height = static_cast<std::int64_t>(entry.at()); break;
      case 258: bits = entry.at(); break;
      case 259: compression = entry.at(); break;
      case 262: photometric = entry.at(); break;
      case 274: info.orientation = valid_orientation(entry.at()); break;
      case 277: samples = entry.at(); break;
      case 338: extra = entry.count; break;
      case 339: sample_format = entry.at(); break;
      default: break;
    }
  });
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

ImageInfo webp_header(const ByteSource& source) {
  ImageInfo info{.format = Format::webp};
  bool alpha = false;
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
      std::string exif = source.read_some(at + 8, length);
      if (exif.starts_with(exif_prefix)) exif.erase(0, exif_prefix.size());
      info.orientation = exif_orientation(exif);
    }
    at += 8 + length + (length & 1);
  }
  if (info.stored.width == 0) fail("truncated WebP: no image in it");
  info.type = type_of(PixelClass::uint8, 3, alpha);
  info.detail = std::string(info.lossy ? "lossy" : "lossless");
  return info;
}

}  // namespace impipe::io
