// EXIF blocks: TIFF structures that are carried as they are, so that maker notes, whose offsets
// nobody knows, stay where they lie. Only what the pixels decide is changed, in place.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

struct TiffField;

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

// The block without the fields for which is_stale is true, of its first directory and of EXIF's
// own; empty when nothing is left.
std::string exif_without(std::string block, const std::function<bool(std::uint16_t tag)>& is_stale);
// The text of a field of the first directory; empty when there is none.
std::string exif_text(std::string_view block, std::uint16_t tag);
// With another text in the place of the one that is there.
std::string exif_with_text(std::string block, std::uint16_t tag, std::string_view text);
// A point x, y of the file's picture, with a diameter, or with a width and a height, in the result.
// False when it is not to be seen, or has another shape.
bool follow_area(std::vector<double>& area, const PixelChange& change);
// The place of the subject and the resolution of the sensor's plane follow the pixels. What cannot
// be told of the result is left out: `lost` has its name.
std::string exif_of_moved(std::string block, const PixelChange& change,
                          std::vector<std::string>& lost);

// By ColorSpace, where 2 is a camera's own number for Adobe RGB, and the interoperability index, of
// which R03 is Adobe RGB.
enum class ExifColours { unsaid, srgb, adobe_rgb };
ExifColours exif_colours(std::string_view block);
// Marks a picture as one in sRGB or in any other space; an index of the old space is left out.
std::string exif_with_colours(std::string block, bool is_srgb);

// The resolution in x and y of a picture whose rows may be columns now; grows: by as much as there
// are more pixels. Without it where neither tells of rows of the result.
std::string exif_of_resolution_moved(std::string block, const PixelChange& change, bool grows);

// With this resolution, which has a unit, in the place of the one that is there.
std::string exif_with_resolution(std::string block, const Resolution& resolution);

// Says nothing but a resolution.
std::string exif_of_resolution(const Resolution& resolution);

// Fields of one byte order become those of the other. A maker note, whose numbers nobody can turn,
// is left out: `lost` has its name.
void turn_fields(std::vector<TiffField>& fields, std::vector<std::string>& lost);
// The block in this byte order.
std::string exif_in_order(const std::string& block, bool big_endian,
                          std::vector<std::string>& lost);

// Tags of a TIFF that say how its pixels are stored: the writer's business.
bool is_structure_tag(std::uint16_t tag);
// The block without tags of TIFF files alone (GeoTIFF's, a microscope's), which are named in
// `lost`.
std::string exif_of_photographs(const std::string& block, std::vector<std::string>& lost);

}  // namespace impipe::io
