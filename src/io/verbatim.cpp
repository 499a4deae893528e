// Pieces of a picture file that neither the pixels nor the metadata hold, carried as they are into
// a file of the same format.
#include "io/verbatim.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace impipe::io {
namespace {

using namespace std::string_view_literals;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t big_endian(std::string_view text, size_t at, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(text[at + static_cast<size_t>(i)]);
  }
  return value;
}

// Calls visit(kind, whole chunk) for the chunks of a PNG file.
template <class Visit>
void visit_chunks(std::string_view file, Visit visit) {
  constexpr size_t signature = 8, frame = 12;  // bytes of a chunk beside its data
  for (size_t at = signature; at + frame <= file.size();) {
    const std::uint64_t size = frame + std::uint64_t{big_endian(file, at, 4)};
    if (at + size > file.size()) return;
    const std::string_view kind = file.substr(at + 4, 4);
    visit(kind, file.substr(at, size));
    if (kind == "IEND") return;  // what follows is no part of the picture
    at += size;
  }
}

bool is_carried_chunk(std::string_view kind, std::string_view chunk) {
  const std::string_view data = chunk.substr(8, chunk.size() - 12);
  if (kind == "tEXt" || kind == "zTXt") {
    // Some programs write EXIF and XMP so: they are metadata.
    return !data.starts_with("Raw profile type exif\0"sv) &&
           !data.starts_with("Raw profile type xmp\0"sv) &&
           !data.starts_with("Raw profile type APP1\0"sv);
  }
  if (kind == "iTXt") return !data.starts_with("XML:com.adobe.xmp\0"sv);
  return kind == "pHYs" || kind == "gAMA" || kind == "cHRM" || kind == "sRGB";
}

// Calls visit(marker, whole segment) for the segments of a JPEG file in front of its pixels.
template <class Visit>
void visit_segments(std::string_view file, Visit visit) {
  constexpr std::uint32_t start_of_scan = 0xda;
  for (size_t at = 2; at + 4 <= file.size() && file[at] == '\xff';) {
    const std::uint32_t marker = big_endian(file, at + 1, 1);
    const size_t size = 2 + big_endian(file, at + 2, 2);
    if (marker == start_of_scan || size < 4 || at + size > file.size()) return;
    visit(marker, file.substr(at, size));
    at += size;
  }
}

constexpr std::uint32_t jfif_marker = 0xe0, iptc_marker = 0xed, comment_marker = 0xfe;
// In a whole JFIF segment: the unit and the two densities.
constexpr size_t density_at = 11, density_bytes = 5;

bool is_jfif(std::uint32_t marker, std::string_view segment) {
  return marker == jfif_marker && segment.substr(4).starts_with("JFIF\0"sv) &&
         segment.size() >= density_at + density_bytes;
}

Bytes png_with(std::string_view file, std::string_view pieces) {
  bool has_profile = false;
  visit_chunks(file, [&](std::string_view kind, std::string_view) {
    has_profile = has_profile || kind == "iCCP";
  });
  std::string out(file.substr(0, 33));  // the signature and IHDR
  visit_chunks(std::string(8, ' ') + std::string(pieces),
               [&](std::string_view kind, std::string_view chunk) {
                 // A file has one of the two.
                 if (kind != "sRGB" || !has_profile) out += chunk;
               });
  out += file.substr(33);
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return {begin, begin + out.size()};
}

Bytes jpeg_with(std::string_view file, std::string_view pieces) {
  std::string out(file.substr(0, 2)), segments;
  std::string_view density;
  const std::string framed = "  " + std::string(pieces);
  visit_segments(framed, [&](std::uint32_t marker, std::string_view segment) {
    if (is_jfif(marker, segment)) {
      density = segment.substr(density_at, density_bytes);
    } else {
      segments += segment;
    }
  });
  size_t rest = 2;
  visit_segments(file, [&](std::uint32_t marker, std::string_view segment) {
    if (rest != 2 || !is_jfif(marker, segment)) return;
    rest += segment.size();
    out += segment;
    if (!density.empty()) out.replace(2 + density_at, density_bytes, density);
  });
  out += segments;
  out += file.substr(rest);
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return {begin, begin + out.size()};
}

}  // namespace

Bytes verbatim_pieces(std::span<const std::byte> file, Format format) {
  std::string out;
  if (format == Format::png) {
    visit_chunks(text_of(file), [&](std::string_view kind, std::string_view chunk) {
      if (is_carried_chunk(kind, chunk)) out += chunk;
    });
  } else if (format == Format::jpeg) {
    visit_segments(text_of(file), [&](std::uint32_t marker, std::string_view segment) {
      if (marker == comment_marker || marker == iptc_marker || is_jfif(marker, segment)) {
        out += segment;
      }
    });
  }
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return {begin, begin + out.size()};
}

Bytes with_pieces(const Bytes& file, std::span<const std::byte> pieces, Format format) {
  if (pieces.empty()) return file;
  if (format == Format::png) return png_with(text_of(file), text_of(pieces));
  if (format == Format::jpeg) return jpeg_with(text_of(file), text_of(pieces));
  return file;
}

}  // namespace impipe::io
