// OME-XML: of what files say of their pages, as a text of its own.
#pragma once

#include <string>
#include <string_view>

#include "io/formats/tiff/tiff_header.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// Of pages of this layout along these axes, in directories that follow each other. description: of
// the image, or empty. Empty where OME-XML has no word for the axes or the type of samples.
std::string ome_xml(const TiffLayout& layout, const FileAxes& file, std::string_view description);

}  // namespace impipe::io
