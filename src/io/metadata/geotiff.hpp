// The georeference of a TIFF: where its raster lies on a map.
#pragma once

#include <string>

#include "core/pixel_change.hpp"

namespace impipe::io {

// The fields of a TIFF's block that tie its raster to a map (OGC GeoTIFF 1.1, 7.3 and B.6) follow
// the pixels: scale and tie point where axes stay what they are, else a matrix. False, and a block
// as it was, where they cannot: no affine map tells where pixels lie, or the fields are damaged.
bool follow_geotiff(std::string& block, const PixelChange& change);

}  // namespace impipe::io
