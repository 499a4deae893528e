// What programs write of an image's pixels into its description, as text: OME-XML, ImageJ,
// tifffile, MetaMorph, Aperio; and GDAL into a field of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pixel_change.hpp"

namespace impipe::io {

// samples: values have another type in the file, or another meaning.
struct DescriptionChange {
  const PixelChange& pixels;
  bool samples = false, channels = false;
  bool keeps_scale = false;  // the resolution in the file's own fields follows the pixels
};
// The description of the result, empty when nothing of it holds; the names of what is left out go
// to `lost`. What no known program wrote is the text as it is.
std::string description_of(std::string_view text, const DescriptionChange& change,
                           std::vector<std::string>& lost);
// Whether it is ImageJ's, which gives the resolution of the file a unit of length.
bool is_of_imagej(std::string_view description);
// What messages call a description of a known program or standard; empty: it is of none.
std::string name_of_description(std::string_view description);

// GDAL's metadata without the statistics of an image's values.
std::string gdal_without_statistics(std::string text);

}  // namespace impipe::io
