// XMP packets, carried as the text they are: only what the pixels decide is changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/image.hpp"
#include "core/pixel_change.hpp"

namespace impipe::io {

// Where a property's value begins, and what ends it: an attribute, name="6", or an element,
// <name>6</name>.
struct XmpValue {
  size_t begin = std::string_view::npos;
  char end = '<';
};
// The first one from `from` on; its begin is npos when there is none.
XmpValue xmp_value(std::string_view packet, std::string_view name, size_t from);
// Of a picture that stands upright: tiff:Orientation is 1.
std::string upright_xmp(std::string packet);
// Without a property, be it an attribute or an element with all that is in it; of a name that ends
// in ':', without all properties of that prefix.
std::string xmp_without(std::string packet, std::string_view property);
// With regions (mwg-rs:Regions) where their pixels lie in the result; nothing where one of them is
// cut off, or stands askew, or is no rectangle.
std::optional<std::string> xmp_of_moved(std::string packet, const PixelChange& change);
bool has_xmp_thumbnail(std::string_view packet);
// With the sizes of its picture, and this JPEG as its thumbnail, if it has one.
std::string xmp_of_picture(std::string packet, Size size, std::string_view thumbnail);

}  // namespace impipe::io
