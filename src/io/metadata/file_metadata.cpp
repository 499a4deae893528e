// Metadata of any format: hands each to its reader and writer, and names what is left out.
#include "io/metadata/file_metadata.hpp"

#include <algorithm>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/bytes/tiff_fields.hpp"
#include "io/formats/camera/camera_raw.hpp"
#include "io/formats/heif/heif_items.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/metadata/thumbnail.hpp"
#include "io/metadata/xmp.hpp"
#include "io/module/module.hpp"

namespace impipe::io {
namespace {

constexpr size_t bmp_density_at = 38;  // in the file: two numbers, pixels a metre

// "GRAY", "RGB ", "CMYK": the colour space that a profile is for.
std::string profile_space(const Bytes& icc) {
  return icc.size() < 20 ? std::string() : std::string(text_of(icc).substr(16, 4));
}

// A profile describes pixels of its own colour space alone.
void drop_foreign_profile(Metadata& m, int channels, Lost& lost) {
  if (m.icc.empty()) return;
  const std::string space = profile_space(m.icc);
  if (space == (channels == 1 ? "GRAY" : "RGB ")) return;
  const std::string kind = space == "RGB "   ? "of RGB"
                           : space == "GRAY" ? "of gray"
                           : space == "CMYK" ? "of CMYK"
                                             : "of another colour space";
  lost.push_back("ICC profile " + kind);
  m.icc.clear();
}

// Of the thumbnail that there is; none: a side of 0.
ThumbnailSize old_thumbnail(const Metadata& m) {
  return m.exif.empty() ? ThumbnailSize{} : exif_thumbnail(text_of(m.exif));
}
// Of the one that is made, where there was this.
ThumbnailSize new_thumbnail(const ThumbnailSize& old) {
  constexpr ThumbnailSize usual{160, 16384};
  constexpr int max_side = 512;  // it has to fit into 64 KiB with all else
  if (old.side == 0) return usual;
  return {std::min(old.side, max_side), old.bytes};
}

// What describes pixels is that of the result: its fields, sizes and thumbnails.
void follow_pixels(Metadata& m, Format format, const PictureOfFile& picture, Lost& lost) {
  drop_stale_fields(m, picture.image.type, lost);
  const std::string_view exif = text_of(m.exif), resources = text_of(m.photoshop);
  const ThumbnailSize old = old_thumbnail(m), wanted = new_thumbnail(old);
  if (!exif.empty() && has_other_thumbnail(exif))
    lost.push_back("an EXIF thumbnail that is no JPEG");
  const bool in_exif = old.side > 0 && format != Format::tiff;
  if (old.side > 0 && !in_exif) lost.push_back("the EXIF thumbnail");
  const bool elsewhere = has_resource_thumbnail(resources) || has_xmp_thumbnail(m.xmp);
  std::string thumbnail;
  if (in_exif || elsewhere) thumbnail = thumbnail_of(picture.image, wanted.side, wanted.bytes);
  if (!exif.empty()) {
    m.exif =
        bytes_of_text(exif_of_picture(std::string(exif), picture.size, in_exif ? thumbnail : ""));
  }
  if (!m.xmp.empty()) m.xmp = xmp_of_picture(std::move(m.xmp), picture.size, thumbnail);
  if (has_resource_thumbnail(resources)) {
    m.photoshop = bytes_of_text(resources_of_picture(resources, thumbnail));
  }
}

// Blocks of EXIF that are made anew lose the places that maker notes point at, and thumbnails: only
// those of a TIFF, which were made by reading it.
void drop_tiff_tags(Metadata& metadata, Lost& lost) {
  if (!metadata.exif_of_tiff || metadata.exif.empty()) return;
  metadata.exif = bytes_of_text(exif_of_photographs(std::string(text_of(metadata.exif)), lost));
}

}  // namespace

bool wants_thumbnail(const Metadata& metadata) {
  const std::string_view exif = text_of(metadata.exif);
  return (!exif.empty() && exif_thumbnail(exif).side > 0) ||
         has_resource_thumbnail(text_of(metadata.photoshop)) || has_xmp_thumbnail(metadata.xmp);
}

int thumbnail_side(const Metadata& metadata) { return new_thumbnail(old_thumbnail(metadata)).side; }

void name_pieces(const Metadata& metadata, Lost& lost) {
  for (const Piece& piece : metadata.pieces) {
    const bool known = std::find(lost.begin(), lost.end(), piece.name) != lost.end();
    if (!piece.name.empty() && !known) lost.push_back(piece.name);
  }
}

void name_losses(const Metadata& m, bool resolution, Lost& lost) {
  if (!m.exif.empty()) lost.emplace_back("EXIF");
  if (!m.icc.empty()) lost.emplace_back("ICC profile");
  if (!m.xmp.empty()) lost.emplace_back("XMP");
  if (!m.photoshop.empty()) lost.push_back(name_of_resources(text_of(m.photoshop)));
  if (resolution && m.resolution &&
      (m.resolution->unit != Resolution::Unit::none || m.resolution->x != m.resolution->y)) {
    lost.emplace_back("resolution");
  }
  if (!m.comments.empty()) lost.emplace_back("a comment");
  name_pieces(m, lost);
}

// What the library found, made to fit an image whose orientation is already applied.
static MetadataRead read_module_metadata(std::span<const std::byte> file, const ImageInfo& header) {
  MetadataRead out = codec_module(header.format).read_metadata(file, header.page);
  Metadata& m = out.metadata;
  if (header.format == Format::avif || header.format == Format::heif) {
    const Lost more = unread_items(ByteSource(file), header.format);
    out.lost.insert(out.lost.end(), more.begin(), more.end());
  }
  if (!m.exif.empty() && is_exif(text_of(m.exif))) {
    m.exif = bytes_of_text(upright_exif(std::string(text_of(m.exif))));
    if (const auto said = exif_resolution(text_of(m.exif))) m.resolution = said;
  } else if (!m.exif.empty()) {
    m.exif.clear();
    out.lost.emplace_back("EXIF that cannot be read");
  }
  m.xmp = upright_xmp(std::move(m.xmp));
  return out;
}

MetadataRead read_metadata(std::span<const std::byte> file, const ImageInfo& header,
                           std::span<const int> pages_together) {
  MetadataRead out;
  switch (header.format) {
    case Format::jpeg: out = read_jpeg_metadata(text_of(file)); break;
    case Format::png: out = read_png_metadata(text_of(file)); break;
    case Format::webp: out = read_webp_metadata(text_of(file)); break;
    case Format::tiff:
      out = read_tiff_metadata(file, header.page, header.tiff_pages.get(), pages_together);
      break;
    case Format::bmp: out = read_bmp_metadata(text_of(file)); break;
    case Format::tga: out = read_tga_metadata(file); break;
    case Format::hdr: out = read_hdr_metadata(file); break;
    case Format::qoi: out = read_qoi_metadata(file); break;
    case Format::gif: out = read_gif_metadata(file); break;
    case Format::jp2: out = read_jp2_metadata(file); break;
    case Format::camera: out = read_camera_metadata(file); break;
    default:
      if (module_reads_header(header.format)) out = read_module_metadata(file, header);
  }
  if (header.orientation >= 5 && out.metadata.resolution) {
    std::swap(out.metadata.resolution->x, out.metadata.resolution->y);
  }
  const bool animated = reads_pages(header.format) && header.format != Format::tiff &&
                        header.format != Format::heif && header.format != Format::fits &&
                        header.format != Format::npy;
  if (animated && header.pages > 1) {
    out.lost.emplace_back("the times of its frames");
  }
  return out;
}

namespace {

// The colours that Windows' fourth header and its fifth tell of.
void read_bmp_colours(std::string_view file, MetadataRead& out) {
  constexpr std::size_t header = 14, space = 70, ends = 74, gammas = 110, profile = 126;
  const std::string head(file.substr(0, profile + 8));
  const std::uint64_t header_bytes = little_at(head, header, 4);
  if (header_bytes < 108) return;
  const std::uint64_t kind = little_at(head, space, 4);
  const auto is_set = [&](std::size_t begin, std::size_t end) {
    return head.substr(begin, end - begin).find_first_not_of('\0') != head.npos;
  };
  if (kind == 0 && is_set(ends, gammas) && is_set(gammas, gammas + 12)) {
    out.lose("its calibrated colours");
  }
  if (header_bytes < 124) return;
  if (kind == 0x4c494e4b) out.lose("an ICC profile in another file");  // LINK
  const std::uint64_t at = header + little_at(head, profile, 4),
                      size = little_at(head, profile + 4, 4);
  if (kind != 0x4d424544) return;  // MBED
  if (at > file.size() || size > file.size() - at) return out.lose("an ICC profile that is cut");
  if (out.takes(size, "ICC profile")) {
    out.metadata.icc = bytes_of_text(std::string(file.substr(at, size)));
  }
}

}  // namespace

MetadataRead read_bmp_metadata(std::string_view file) {
  MetadataRead out;
  read_bmp_colours(file, out);
  const std::string head(file.substr(0, bmp_density_at + 8));
  constexpr std::uint64_t windows_header = 40;  // bytes; OS/2's first has no such fields
  if (little_at(head, 14, 4) < windows_header) return out;
  const std::uint64_t x = little_at(head, bmp_density_at, 4);
  const std::uint64_t y = little_at(head, bmp_density_at + 4, 4);
  constexpr std::uint64_t most = 0x7fffffff;
  if (x > 0 && y > 0 && x <= most && y <= most) {
    out.metadata.resolution =
        Resolution{static_cast<double>(x), static_cast<double>(y), Resolution::Unit::metre};
  }
  return out;
}

Bytes with_bmp_metadata(Bytes file, const Metadata& metadata) {
  if (!metadata.resolution || metadata.resolution->unit == Resolution::Unit::none) return file;
  const Resolution& r = *metadata.resolution;
  const double scale = r.unit == Resolution::Unit::inch         ? 1 / 0.0254
                       : r.unit == Resolution::Unit::centimetre ? 100
                                                                : 1;
  std::string text(text_of(file));
  const auto set = [&](size_t at, double value) {
    put_number(text, at, static_cast<std::uint64_t>(std::min(value * scale + 0.5, 2147483647.0)), 4,
               false);
  };
  set(bmp_density_at, r.x);
  set(bmp_density_at + 4, r.y);
  return bytes_of_text(text);
}

Metadata metadata_of_module(const Metadata& metadata, Format format, const HostImage& image,
                            Lost& lost) {
  Metadata ready = metadata;
  drop_foreign_profile(ready, image.type.channels, lost);
  follow_pixels(ready, format, {image.size(), image}, lost);
  const bool has_unit = ready.resolution && ready.resolution->unit != Resolution::Unit::none;
  const bool boxes = format == Format::jp2;  // for resolution and comments too
  if (!ready.exif.empty()) {
    drop_tiff_tags(ready, lost);
  } else if (has_unit && !boxes) {
    ready.exif = bytes_of_text(exif_of_resolution(*ready.resolution));
  }
  Metadata rest = metadata;
  rest.icc.clear();
  rest.exif.clear();
  rest.xmp.clear();
  if (boxes) {
    rest.photoshop.clear();
    rest.comments.clear();
  }
  name_losses(rest, boxes && !has_unit, lost);
  return ready;
}

Metadata metadata_of_picture(const Metadata& metadata, Format format, const PictureOfFile& picture,
                             Lost& lost) {
  Metadata ready = metadata;
  drop_foreign_profile(ready, picture.image.type.channels, lost);
  follow_pixels(ready, format, picture, lost);
  if (format != Format::tiff) drop_tiff_tags(ready, lost);
  return ready;
}

Bytes with_metadata(Bytes file, Format format, const Metadata& metadata,
                    const PictureOfFile& picture, Lost& lost) {
  if (metadata.empty() && metadata.pieces.empty()) return file;
  // An EXR's attributes and a DPX's header are no such metadata.
  if (!traits(format).metadata || format == Format::exr || format == Format::dpx) {
    name_losses(metadata, format != Format::bmp, lost);
    if (format != Format::bmp) return file;
    Metadata resolution;
    resolution.resolution = metadata.resolution;
    resolution.change = metadata.change;
    follow_resolution(resolution, lost);
    return with_bmp_metadata(std::move(file), resolution);
  }
  const Metadata ready = metadata_of_picture(metadata, format, picture, lost);
  switch (format) {
    case Format::jpeg: return with_jpeg_metadata(file, ready, lost);
    case Format::png: return with_png_metadata(file, ready, lost);
    case Format::webp: return with_webp_metadata(file, ready, picture.image, lost);
    case Format::tiff: return with_tiff_metadata(file, ready, lost);
    default: return file;
  }
}

}  // namespace impipe::io
