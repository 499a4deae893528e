// What of the metadata goes with a picture into a file, and the names of what does not.
#include "io/metadata/file_metadata.hpp"

#include <algorithm>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/bytes/tiff_fields.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/metadata/thumbnail.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

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
    const bool known = std::ranges::find(lost, piece.name) != lost.end();
    if (!piece.name.empty() && !known) lost.push_back(piece.name);
  }
}

void lose(Lost& lost, const std::string& name) {
  if (std::ranges::find(lost, name) == lost.end()) lost.push_back(name);
}

void name_losses(const Metadata& m, bool resolution, Lost& lost, bool keeps_axes) {
  if (!m.exif.empty()) {
    const Lost names = names_of_tiff_fields(std::string(text_of(m.exif)), keeps_axes);
    // One that says nothing but a resolution has no names.
    for (const std::string& name : names) lose(lost, m.exif_of_tiff ? name : "EXIF");
  }
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

void name_axes(std::span<const PageAxis> pages, std::span<const MeasuredAxis> measured,
               Lost& lost) {
  std::string all;
  for (const PageAxis& axis : pages) {
    if (axis.count == 1) continue;
    all +=
        (all.empty() ? "" : ", ") + std::string(1, axis.letter) + ' ' + std::to_string(axis.count);
  }
  if (!all.empty()) lose(lost, "the axes of its pages (" + all + ")");
  for (const MeasuredAxis& axis : measured) {
    const bool is_in_plane = axis.name == "x" || axis.name == "y";
    const bool has_step = axis.scale != 1 || !axis.unit.empty();
    if ((has_step && !is_in_plane) || axis.translation != 0) {
      lose(lost, "where pixels lie along " + axis.name);
    }
  }
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

}  // namespace impipe::io
