// Metadata on their way into freshly encoded files. Each kind is carried by itself and as it is, so
// that damage to one harms no other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// What metadata say of the picture of their file.
struct PictureOfFile {
  Size size;
  // It, or what a thumbnail of it is made of: see thumbnail_side.
  const HostImage& image;
};
// What of the metadata is true of a picture, and goes into a file of JPEG, PNG, WebP or TIFF.
Metadata metadata_of_picture(const Metadata& metadata, Format format, const PictureOfFile& picture,
                             std::vector<std::string>& lost);

// What a module puts into a file that it encodes; the rest is named in `lost`.
Metadata metadata_of_module(const Metadata& metadata, Format format, const HostImage& image,
                            std::vector<std::string>& lost);

// Whether a file with it has a smaller picture of its pixels.
bool wants_thumbnail(const Metadata& metadata);
// The longer side of that, in pixels at most: the picture as a SmallPicture of this side is as good
// as the picture.
int thumbnail_side(const Metadata& metadata);

using Lost = std::vector<std::string>;

// Names all that there is, the resolution if that is lost too. keeps_axes: the file says in its own
// words what a TIFF's description says of axes and sizes.
void name_losses(const Metadata& metadata, bool resolution, Lost& lost, bool keeps_axes = false);
// Names the axes of pages, and what axes measure but for the size of pixels.
void name_axes(std::span<const PageAxis> pages, std::span<const MeasuredAxis> measured, Lost& lost);
void name_pieces(const Metadata& metadata, Lost& lost);
// Adds a name, once.
void lose(Lost& lost, const std::string& name);

}  // namespace impipe::io
