// WebP: its header, and chunks of metadata taken out of it and put in.
#include <algorithm>
#include <iterator>

#include "io/formats/by_module.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/orientation.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

using namespace std::string_view_literals;

// Bits of the first byte of VP8X.
constexpr int has_profile = 0x20, has_alpha = 0x10, has_exif = 0x08, has_xmp = 0x04;

template <class Visit>
void visit_chunks(std::string_view file, Visit visit) {
  for (size_t at = 12; at + 8 <= file.size();) {
    const std::uint64_t length = little_at(file, at + 4, 4);
    if (length > file.size() - at - 8) return;
    const size_t end = std::min(file.size(), at + 8 + length + length % 2);
    visit(file.substr(at, 4), file.substr(at + 8, length), file.substr(at, end - at));
    at = end;
  }
}

std::string chunk_of(std::string_view kind, std::string_view data) {
  std::string out = std::string(kind) + little(data.size(), 4) + std::string(data);
  if (out.size() % 2 != 0) out += '\0';
  return out;
}

ImageInfo read_header(const HeaderInput& input) {
  const ByteSource& source = input.source;
  ImageInfo info;
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
      info.stored = size_of(little_at(chunk, 12, 3) + 1, little_at(chunk, 15, 3) + 1);
    } else if (kind == "VP8L" && chunk.size() >= 13) {
      const std::uint64_t word = little_at(chunk, 9, 4);
      if (info.stored.width == 0) {
        info.stored = size_of((word & 0x3fff) + 1, ((word >> 14) & 0x3fff) + 1);
      }
      alpha = alpha || ((word >> 28) & 1) != 0;
    } else if (kind == "VP8 " && chunk.size() >= 18) {
      info.lossy = true;
      if (info.stored.width == 0) {
        info.stored = size_of(little_at(chunk, 14, 2) & 0x3fff, little_at(chunk, 16, 2) & 0x3fff);
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

MetadataRead read_metadata(const MetadataInput& input) {
  MetadataRead out;
  Metadata& m = out.metadata;
  visit_chunks(text_of(input.file), [&](std::string_view kind, std::string_view data,
                                        std::string_view chunk) {
    constexpr std::string_view storage[] = {"VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"};
    const std::string name = "chunk '" + std::string(kind) + "'";
    if (std::ranges::find(storage, kind) != std::end(storage)) return;
    if (!out.takes(data.size(), name)) return;
    if (kind == "ICCP") {
      m.icc = bytes_of_text(data);
    } else if (kind == "XMP ") {
      m.xmp = upright_xmp(std::string(data));
    } else if (kind == "EXIF") {
      if (data.starts_with("Exif\0\0"sv)) data.remove_prefix(6);
      if (is_exif(data)) {
        m.exif = bytes_of_text(upright_exif(std::string(data)));
      } else {
        out.lost.push_back("EXIF that cannot be read");
      }
    } else {
      m.pieces.push_back({name, std::string(chunk)});
    }
  });
  m.resolution = exif_resolution(text_of(m.exif));
  m.pieces_of = Format::webp;
  return out;
}

Bytes write_metadata(Bytes file, const Metadata& given, const PictureOfFile& picture, Lost& lost) {
  const Metadata metadata = metadata_of_picture(given, Format::webp, picture, lost);
  const bool own = metadata.pieces_of == Format::webp;
  if (!own) name_pieces(metadata, lost);
  if (!metadata.photoshop.empty()) lost.push_back(name_of_resources(text_of(metadata.photoshop)));
  if (!metadata.comments.empty()) lost.push_back("a comment");
  std::string exif(text_of(metadata.exif));
  if (exif.empty() && metadata.resolution && metadata.resolution->unit != Resolution::Unit::none) {
    exif = exif_of_resolution(*metadata.resolution);
  }
  const bool pieces = own && !metadata.pieces.empty();
  if (metadata.icc.empty() && exif.empty() && metadata.xmp.empty() && !pieces) return file;
  std::string pixels;
  int flags = (metadata.icc.empty() ? 0 : has_profile) | (exif.empty() ? 0 : has_exif) |
              (metadata.xmp.empty() ? 0 : has_xmp) | (picture.image.type.alpha ? has_alpha : 0);
  visit_chunks(text_of(file), [&](std::string_view kind, std::string_view, std::string_view chunk) {
    if (kind != "VP8X") pixels += chunk;
  });
  const Size size = picture.image.size();
  const auto side = [](std::int64_t n) { return little(static_cast<std::uint64_t>(n - 1), 3); };
  std::string out = "WEBP" + chunk_of("VP8X", little(static_cast<std::uint64_t>(flags), 4) +
                                                  side(size.width) + side(size.height));
  if (!metadata.icc.empty()) out += chunk_of("ICCP", text_of(metadata.icc));
  out += pixels;
  if (!exif.empty()) out += chunk_of("EXIF", exif);
  if (!metadata.xmp.empty()) out += chunk_of("XMP ", metadata.xmp);
  for (const Piece& piece : metadata.pieces) {
    if (own) out += piece.bytes;
  }
  return bytes_of_text("RIFF" + little(out.size(), 4) + out);
}

}  // namespace

const FormatTraits webp_format{
    .format = Format::webp,
    .name = "WebP",
    .extensions = "webp",
    .module = main_module,
    .library = "libwebp",
    .can = {Can::eight, Can::alpha, Can::metadata},
    .longest_side = 16383,
    .pages = Pages::like_frames,
    .sniff =
        [](std::string_view head) {
          return head.starts_with("RIFF") && head.size() >= 12 && head.substr(8, 4) == "WEBP";
        },
    .header = read_header,
    .decode = decode_by_module,
    .encode = encode_by_module,
    .read_metadata = read_metadata,
    .with_metadata = write_metadata,
};

}  // namespace impipe::io
