// EXIF blocks: TIFF structures that are carried as they are, so that maker notes, whose offsets
// nobody knows, stay where they lie. Only what the pixels decide is changed, in place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "io/metadata.hpp"

namespace impipe::io {

bool is_exif(std::string_view block);

// The block of a picture that stands upright: orientation 1. Empty when it says nothing else.
std::string upright_exif(std::string block);
std::optional<Resolution> exif_resolution(std::string_view block);

// The longer side of its JPEG thumbnail, and its bytes; 0 when there is none.
struct ThumbnailSize {
  int side = 0;
  size_t bytes = 0;
};
ThumbnailSize exif_thumbnail(std::string_view block);
// Whether it has a thumbnail of another kind.
bool has_other_thumbnail(std::string_view block);
// With the sizes of its picture, and this JPEG as its thumbnail, if it has one; none when empty.
std::string exif_of_picture(std::string block, Size size, std::string_view thumbnail);

std::string exif_without_thumbnail(std::string block);

// Says nothing but a resolution.
std::string exif_of_resolution(const Resolution& resolution);

// Tags of a TIFF that say how its pixels are stored: the writer's business.
bool is_structure_tag(std::uint16_t tag);
// The block without tags of TIFF files alone (GeoTIFF's, a microscope's), which are named in
// `lost`.
std::string exif_of_photographs(const std::string& block, std::vector<std::string>& lost);

}  // namespace impipe::io
