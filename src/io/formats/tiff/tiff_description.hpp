// What ImageJ, tifffile, Aperio's scanners and writers of OME-XML write into a TIFF's
// ImageDescription about the pages of a stack.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/picture/image_info.hpp"

namespace impipe::io {

struct TiffLayout;  // io/formats/tiff/tiff_header.hpp

// Whether a text that begins so may describe a stack; a few characters are enough.
bool may_describe_stack(std::string_view begin);
// Whether it describes all pages of a file, as ImageJ's in each directory do; else those from its
// directory on.
bool describes_whole_file(std::string_view description);
// How many planes of this layout the description says that there are; 1 where it says nothing.
std::int64_t described_planes(std::string_view description, const TiffLayout& layout);
// The axes of so many pages of a whole file, by ImageJ's description or OME-XML; none where it says
// nothing of them, or something else.
std::vector<PageAxis> described_axes(std::string_view description, std::int64_t pages);
// Whether a slide scanner wrote it, which says the size of pixels alone.
bool is_aperio(std::string_view description);
// What axes of them, and x and y, measure by the same, or by Aperio's description. x_resolution,
// y_resolution: pixels for each of ImageJ's units, of the file's own fields; 0: it has none.
std::vector<MeasuredAxis> described_measures(std::string_view description, double x_resolution,
                                             double y_resolution);
// What OME-XML of one picture calls its channels, as it stands there; empty where one has no name.
std::vector<std::string> described_channels(std::string_view description);
// How many planes the first picture of OME-XML has.
std::int64_t ome_planes(std::string_view description);
// How many pictures OME-XML describes; 1 for other descriptions.
int described_series(std::string_view description);
// The description for a file with `pages` of these planes, one directory each. Adds to `lost` the
// names of dimensions that these pages no longer have. axes: along which they lie; none: not known.
std::string description_of_pages(std::string description, const TiffLayout& layout,
                                 std::int64_t pages, std::span<const PageAxis> axes,
                                 std::vector<std::string>& lost);

}  // namespace impipe::io
