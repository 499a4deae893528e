// PNG: its header, and its row of the table of formats.
#include <algorithm>
#include <string>

#include "io/formats/by_module.hpp"
#include "io/formats/png/png_form.hpp"
#include "io/formats/png/png_metadata.hpp"
#include "io/metadata/orientation.hpp"

namespace impipe::io {
namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
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
  const std::string text =
      png_text(kind, source.read_some(at, length), static_cast<std::uint64_t>(room)).text;
  room -= std::min(room, static_cast<std::int64_t>(text.size()));
  if (room == 0) return;
  if (xmp) {
    said.hear_xmp(text);
  } else {
    said.hear_raw_profile(keyword, text);
  }
}

// How many pictures follow each other from there on.
int pictures_from(const ByteSource& source, std::int64_t at) {
  int count = 0;
  while (source.read_some(at, std::ssize(signature)) == signature) {
    ++count;
    at += std::ssize(signature);
    for (bool is_last = false; !is_last && at + 12 <= source.size();) {
      const std::string chunk = source.read(at, 8);
      is_last = chunk.ends_with("IEND");
      at += static_cast<std::int64_t>(big_at(chunk, 0, 4)) + 12;
    }
  }
  return count;
}

ImageInfo read_header(const HeaderInput& input) {
  const ByteSource& source = input.source;
  const std::string head = source.read(0, 33);
  if (head.compare(12, 4, "IHDR") != 0 || big_at(head, 8, 4) != 13) {
    fail("damaged PNG: no IHDR chunk");
  }
  ImageInfo info;
  info.stored = size_of(big_at(head, 16, 4), big_at(head, 20, 4));
  const auto bits = static_cast<int>(big_at(head, 24, 1));
  const auto colour = static_cast<int>(big_at(head, 25, 1));
  bool transparency = false;
  SaidOrientation said;
  // Of an animation: its frames, and whether the first of them is the picture itself.
  bool animated = false, pixels_seen = false, picture_is_frame = false;
  int frames = 0, others = 0;
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
    at += length + 12;
    if (kind != "IEND") continue;
    others = pictures_from(source, at);
    break;
  }
  if (animated) info.pages = std::max(frames + (picture_is_frame ? 0 : 1), 1);
  info.pages += others;
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

}  // namespace

const FormatTraits png_format{
    .format = Format::png,
    .name = "PNG",
    .extensions = "png",
    .module = main_module,
    .library = "libpng",
    .can = {Can::one_bit, Can::eight, Can::sixteen, Can::alpha, Can::metadata},
    .sniff = [](std::string_view head) { return head.starts_with(signature); },
    .header = read_header,
    .decode = decode_by_module,
    .encode = encode_by_module,
    .read_metadata = read_png_metadata,
    .with_metadata = with_png_metadata,
    .packed_form = [](const PackedInput& input, EncodeOptions&,
                      Encoded&) -> std::optional<PackedForm> {
      if (input.options.compression == Compression::small) return {};
      return png_form(input.type, input.size);
    },
};

}  // namespace impipe::io
