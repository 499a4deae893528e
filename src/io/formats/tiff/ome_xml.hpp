// OME-XML of pages whose file has none: what their axes are and measure.
#pragma once

#include <span>
#include <string>

#include "io/formats/tiff/tiff_header.hpp"
#include "io/picture/axes.hpp"

namespace impipe::io {

// Of pages of this layout along these axes, in directories that follow each other. Empty where
// OME-XML has no word for the axes or the type of samples.
std::string ome_xml(const TiffLayout& layout, std::span<const PageAxis> pages,
                    std::span<const MeasuredAxis> measured);

}  // namespace impipe::io
