// Reads the headers of the formats that the codec module decodes: enough to know the image's type
// and size before anything is allocated.
#include "io/headers.hpp"

#include <algorithm>
#include <cmath>

#include "io/formats/tiff/tiff_blocks.hpp"
#include "io/formats/tiff/tiff_header.hpp"
#include "io/metadata/orientation.hpp"
#include "io/module/module.hpp"

namespace impipe::io {
namespace {

ImageType type_of(PixelClass cls, int channels, bool alpha) {
  return {.cls = cls, .channels = channels, .alpha = alpha, .white = class_max(cls)};
}

// Above the range of any file; keeps sums of what a header claims within 64 bits.
std::int64_t whole_bytes(double bytes) {
  return static_cast<std::int64_t>(std::ceil(std::min(bytes, 1e18)));
}

// How much of an image a byte of the file can hold at most, by the compression.
struct Packing {
  std::uint64_t compression;
  double most;  // bytes of samples in a byte
  const char* why;
};
// What is missing here has no such bound: arithmetic codes, WebP, LERC, JBIG and the logs.
constexpr Packing tiff_packings[] = {
    {1, 1, ""},
    // A code of 12 bits for 2560 white pixels (ITU-T T.4, table 3).
    {2, 2560.0 / 12, "CCITT packs at most 213:1"},
    // A code has at most 12 bits and stands for at most 3837 bytes (TIFF 6.0, section 13).
    {5, 2560, "LZW packs at most 2560:1"},
    {8, 1032, "deflate packs at most 1032:1"},      // zlib.net/zlib_tech.html
    {32946, 1032, "deflate packs at most 1032:1"},  // its elder number
    {32773, 64, "PackBits packs at most 64:1"},     // two bytes for 128 (TIFF 6.0, section 9)
    // A repetition of 273 bytes takes 14 binary decisions of at least 0.022 bits.
    {34925, 8192, "LZMA packs at most 8192:1"},
    {50000, 32768, "Zstandard packs at most 32768:1"},  // 4 bytes for 128 KiB (RFC 8878, 3.1.1.2)
};

// Huffman's shortest code is one bit, and a block of 8x8 samples takes a code at least. Of a colour
// with the fewest samples that block covers the most pixels, and the others' may be left out.
// `components` is the frame header's list, three bytes each; `code` is the frame's marker.
void claim_jpeg(ImageInfo& info, int code, const std::string& components) {
  if (code > 0xc2) return;  // arithmetic codes have no such bound
  std::int64_t across = 1, down = 1, fewest_across = 4, fewest_down = 4;
  for (size_t i = 1; i < components.size(); i += 3) {
    const auto sampling = static_cast<std::int64_t>(big_at(components, i, 1));
    across = std::max(across, sampling >> 4);
    down = std::max(down, sampling & 15);
    fewest_across = std::clamp<std::int64_t>(sampling >> 4, 1, fewest_across);
    fewest_down = std::clamp<std::int64_t>(sampling & 15, 1, fewest_down);
  }
  const Size block{8 * across / fewest_across, 8 * down / fewest_down};
  info.min_bytes = whole_bytes(static_cast<double>(info.stored.pixels()) /
                               static_cast<double>(block.pixels()) / 8);
  info.min_why = "JPEG has at least a bit for " + to_string(block) + " pixels";
}

// What the file must have at least for what the directory claims. Counted is the image, or one
// tile where that is larger: it is unpacked as a whole.
void claim_tiff(ImageInfo& info, const TiffLayout& l) {
  const bool tile = info.tile.pixels() > l.size.pixels();
  const auto width = static_cast<double>(tile ? info.tile.width : l.size.width);
  const auto height = static_cast<double>(tile ? info.tile.height : l.size.height);
  // Subsampled YCbCr has little more than one sample a pixel.
  const double samples = l.is_ycbcr() ? 1 : static_cast<double>(l.samples);
  const double bytes = height * std::ceil(width * samples * static_cast<double>(l.bits) / 8);
  if (l.compression == 3 || l.compression == 4) {
    // A row like the one above is one bit (ITU-T T.6, vertical mode).
    info.min_bytes = whole_bytes(height / 8);
    info.min_why = "CCITT has at least a bit for a row";
  } else if (l.compression == 6 || l.compression == 7) {
    // See jpeg_header; the coarsest sampling there is.
    info.min_bytes = whole_bytes(width * height / (8 * 32 * 32));
    info.min_why = "JPEG has at least a bit for 32x32 pixels";
  }
  for (const Packing& packing : tiff_packings) {
    if (packing.compression != l.compression) continue;
    info.min_bytes = whole_bytes(bytes / packing.most);
    info.min_why = packing.why;
  }
}

SampleType samples_of(const TiffLayout& l) {
  const int bytes = static_cast<int>(l.bits / 8);
  if (l.numbers == tiff_float) return bytes == 8 ? SampleType::float64 : SampleType::of_class;
  const bool is_signed = l.numbers == tiff_signed;
  return is_signed || bytes > 2 ? sample_type_of(is_signed, bytes) : SampleType::of_class;
}

}  // namespace

std::string depth_text(int bits, bool is_float) {
  return std::to_string(bits) + "-bit" + (is_float ? " float" : "");
}

namespace {

constexpr std::int64_t deflate_ratio = 1032;  // at most
// More than all texts that say how a picture is to be turned.
constexpr std::int64_t max_text = 16 << 20;  // bytes

// Whether the chunk of text or a profile whose data begin at `at` is compressed.
bool is_deflated(const ByteSource& source, const std::string& kind, std::int64_t at) {
  if (kind != "iTXt") return kind == "zTXt" || kind == "iCCP";
  const std::string head = source.read_some(at, 81);
  return big_at(head, head.find('\0') + 1, 1) == 1;
}

// Hears what a text chunk of a PNG says of the orientation. `room`: the bytes that such texts may
// still have.
void hear_png_text(const ByteSource& source, const std::string& kind, std::int64_t at,
                   std::int64_t length, std::int64_t& room, SaidOrientation& said) {
  // A keyword has at most 79 characters and a zero.
  const std::string head = source.read_some(at, std::min<std::int64_t>(length, 80));
  const std::string keyword = head.substr(0, head.find('\0'));
  const bool xmp = keyword == "XML:com.adobe.xmp";
  const bool raw = keyword == "Raw profile type exif" || keyword == "Raw profile type APP1" ||
                   keyword == "Raw profile type xmp";
  if ((!xmp && !raw) || length > room) return;
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
  if (packed) text = codec_module(Format::png).inflate(text, room);
  room -= std::min(room, static_cast<std::int64_t>(text.size()));
  if (room == 0) return;
  if (xmp) {
    said.hear_xmp(text);
  } else {
    said.hear_raw_profile(keyword, text);
  }
}

}  // namespace

ImageInfo png_header(const ByteSource& source) {
  const std::string head = source.read(0, 33);
  if (head.compare(12, 4, "IHDR") != 0 || big_at(head, 8, 4) != 13) {
    fail("damaged PNG: no IHDR chunk");
  }
  ImageInfo info{.format = Format::png};
  info.stored = {static_cast<std::int64_t>(big_at(head, 16, 4)),
                 static_cast<std::int64_t>(big_at(head, 20, 4))};
  const auto bits = static_cast<int>(big_at(head, 24, 1));
  const auto colour = static_cast<int>(big_at(head, 25, 1));
  bool transparency = false;
  SaidOrientation said;
  // Of an animation: its frames, and whether the first of them is the picture itself.
  bool animated = false, pixels_seen = false, picture_is_frame = false;
  int frames = 0;
  std::int64_t text_room = max_text, packed_metadata = 0;
  for (std::int64_t at = 33; at + 12 <= source.size();) {
    const std::string chunk = source.read(at, 8);
    const auto length = static_cast<std::int64_t>(big_at(chunk, 0, 4));
    const std::string kind = chunk.substr(4);
    if (kind == "tRNS") transparency = true;
    if (kind == "eXIf") said.hear_exif(source.read_some(at + 8, length));
    if (kind == "tEXt" || kind == "zTXt" || kind == "iTXt") {
      hear_png_text(source, kind, at + 8, length, text_room, said);
    }
    if (is_deflated(source, kind, at + 8)) packed_metadata += length;
    if (kind == "acTL" && !pixels_seen) animated = true;
    if (kind == "fcTL") {
      ++frames;
      picture_is_frame = picture_is_frame || !pixels_seen;
    }
    if (kind == "IDAT") pixels_seen = true;
    if (kind == "IEND") break;
    at += length + 12;
  }
  if (animated) info.pages = std::max(frames + (picture_is_frame ? 0 : 1), 1);
  info.orientation = said.value();
  const bool alpha = colour == 4 || colour == 6 || transparency;
  const int channels = (colour & 2) != 0 ? 3 : 1;
  const PixelClass cls = bits == 16                           ? PixelClass::uint16
                         : bits == 1 && colour == 0 && !alpha ? PixelClass::logical
                                                              : PixelClass::uint8;
  info.type = type_of(cls, channels, alpha);
  info.detail = depth_text(bits) + (colour == 3 ? " palette" : "") +
                (big_at(head, 28, 1) != 0 ? ", interlaced" : "");
  const int samples = colour == 2 ? 3 : colour == 6 ? 4 : colour == 4 ? 2 : 1;
  info.min_bytes =
      whole_bytes(static_cast<double>(info.stored.width) * bits * samples / 8 *
                  static_cast<double>(info.stored.height) / static_cast<double>(deflate_ratio));
  info.min_why = "deflate packs at most 1032:1";
  info.metadata_bytes = std::min(deflate_ratio * packed_metadata, max_metadata);
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

// What libjpeg does not decode is no damage.
void check_jpeg_kind(int code, int bits) {
  constexpr int baseline = 0xc0, extended = 0xc1, progressive = 0xc2, arithmetic = 0xc9,
                arithmetic_progressive = 0xca;
  const bool lossless = code == 0xc3 || code == 0xc7 || code == 0xcb || code == 0xcf;
  const bool known = code == baseline || code == extended || code == progressive ||
                     code == arithmetic || code == arithmetic_progressive;
  if (!known) {
    fail(std::string(lossless ? "lossless" : "hierarchical") + " JPEG is not supported");
  }
  if (bits != 8) fail("JPEG of " + std::to_string(bits) + " bits is not supported");
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
      check_jpeg_kind(code, static_cast<int>(big_at(frame, 0, 1)));
      const auto components = static_cast<int>(big_at(frame, 5, 1));
      info.stored = {static_cast<std::int64_t>(big_at(frame, 3, 2)),
                     static_cast<std::int64_t>(big_at(frame, 1, 2))};
      info.type = type_of(PixelClass::uint8, components == 1 ? 1 : 3, false);
      info.detail = depth_text(static_cast<int>(big_at(frame, 0, 1))) +
                    (components == 4 ? " CMYK" : "") + (code == 0xc2 ? ", progressive" : "");
      info.progressive = code == 0xc2;
      claim_jpeg(info, code, source.read(at + 8, 3 * std::int64_t{components}));
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

ImageInfo tiff_header(const TiffHeader& header) {
  const TiffLayout& l = header.layout;
  ImageInfo info{.format = Format::tiff};
  info.type = image_type_of(l);
  info.samples = samples_of(l);
  info.stored = l.size;
  SaidOrientation said;
  if (header.says_orientation) said.exif = l.orientation;
  said.hear_xmp(header.xmp);
  info.orientation = said.value();
  info.pages = header.pages;
  info.blocks = format_of_blocks(l);
  info.lossy = l.compression == 7 && !l.is_gray();
  info.detail = depth_text(static_cast<int>(l.bits), l.numbers == tiff_float) +
                (l.numbers == tiff_signed ? " signed"
                 : l.is_palette()         ? " palette"
                 : l.is_cmyk()            ? " CMYK"
                 : l.is_ycbcr()           ? " YCbCr"
                                          : "");
  const auto usable = [](Size size) {
    return size.width >= 0 && size.height >= 0 && size.width <= max_side && size.height <= max_side;
  };
  Size tile = l.tile;
  // All slices of a deep tile.
  if (header.planes.count > 1 && usable({0, l.tile_depth})) tile.height *= l.tile_depth;
  if (!usable(tile)) fail("damaged TIFF: tiles of " + to_string(tile));
  if (!usable(l.size)) return info;  // the caller says so
  info.tile = tile;
  claim_tiff(info, l);
  return info;
}

ImageInfo webp_header(const ByteSource& source) {
  ImageInfo info{.format = Format::webp};
  bool alpha = false, animated = false;
  int frames = 0;
  SaidOrientation said;
  for (std::int64_t at = 12; at + 8 <= source.size();) {
    const std::string chunk = source.read_some(at, 18);
    const auto length = static_cast<std::int64_t>(little_at(chunk, 4, 4));
    const std::string kind = chunk.substr(0, 4);
    if (kind == "VP8X") {
      alpha = (little_at(chunk, 8, 1) & 0x10) != 0;
      animated = (little_at(chunk, 8, 1) & 0x02) != 0;
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
    } else if (kind == "ANMF") {
      ++frames;
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
  info.detail = animated ? "animated" : info.lossy ? "lossy" : "lossless";
  if (animated) info.pages = std::max(frames, 1);
  return info;
}

}  // namespace impipe::io
