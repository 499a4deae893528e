// Chunks of a WebP file: metadata taken out of them and put in.
#include <algorithm>
#include <iterator>

#include "io/bytes/byte_source.hpp"
#include "io/formats/webp/webp_metadata.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/file_metadata.hpp"
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
    const std::uint64_t length = little_at(std::string(file.substr(at, 8)), 4, 4);
    if (length > file.size() - at - 8) return;
    const size_t end = std::min(file.size(), at + 8 + length + length % 2);
    visit(file.substr(at, 4), file.substr(at + 8, length), file.substr(at, end - at));
    at = end;
  }
}

std::string little_number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string chunk_of(std::string_view kind, std::string_view data) {
  std::string out = std::string(kind) + little_number(data.size(), 4) + std::string(data);
  if (out.size() % 2 != 0) out += '\0';
  return out;
}

}  // namespace

MetadataRead read_webp_metadata(std::string_view file) {
  MetadataRead out;
  Metadata& m = out.metadata;
  visit_chunks(file, [&](std::string_view kind, std::string_view data, std::string_view chunk) {
    constexpr std::string_view storage[] = {"VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"};
    const std::string name = "chunk '" + std::string(kind) + "'";
    if (std::find(std::begin(storage), std::end(storage), kind) != std::end(storage)) return;
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

Bytes with_webp_metadata(const Bytes& file, const Metadata& metadata, const HostImage& image,
                         Lost& lost) {
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
              (metadata.xmp.empty() ? 0 : has_xmp) | (image.type.alpha ? has_alpha : 0);
  visit_chunks(text_of(file), [&](std::string_view kind, std::string_view, std::string_view chunk) {
    if (kind != "VP8X") pixels += chunk;
  });
  const Size size = image.size();
  const auto side = [](std::int64_t n) {
    return little_number(static_cast<std::uint64_t>(n - 1), 3);
  };
  std::string out = "WEBP" + chunk_of("VP8X", little_number(static_cast<std::uint64_t>(flags), 4) +
                                                  side(size.width) + side(size.height));
  if (!metadata.icc.empty()) out += chunk_of("ICCP", text_of(metadata.icc));
  out += pixels;
  if (!exif.empty()) out += chunk_of("EXIF", exif);
  if (!metadata.xmp.empty()) out += chunk_of("XMP ", metadata.xmp);
  for (const Piece& piece : metadata.pieces) {
    if (own) out += piece.bytes;
  }
  return bytes_of_text("RIFF" + little_number(out.size(), 4) + out);
}

}  // namespace impipe::io
