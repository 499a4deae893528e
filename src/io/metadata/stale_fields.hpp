// Fields of a file's metadata that describe the place, the size or the meaning of its pixels, and
// what becomes of them where the result's pixels are others. docs/formats.md has the same table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// Adapts what can be told of the result, of this type in its file, by metadata.change; leaves out
// what is not true of it any more, whose names go to `lost`.
void drop_stale_fields(Metadata& metadata, const ImageType& result, std::vector<std::string>& lost);

// Names of the fields of a TIFF, of this EXIF block, for messages; the resolution is not among
// them. keeps_axes: what the description says of axes and of sizes of pixels is in the result.
std::vector<std::string> names_of_tiff_fields(std::string block, bool keeps_axes);

// What the axes of the result measure; x and y where its pixels are rectangles in the scene.
std::vector<MeasuredAxis> measured_of_result(const Metadata& metadata);

// What a file of the result alone says of it.
FileAxes axes_of_result(const Metadata& metadata);

// Those of axes of pages, without x and y.
std::vector<MeasuredAxis> of_pages(std::vector<MeasuredAxis> measured);

// The resolution of pixels of which x and y have lengths.
std::optional<Resolution> resolution_of(std::span<const MeasuredAxis> measured);

// What drop_stale_fields does with the resolution. Pixels of which x and y have lengths in the
// scene have that of these.
void follow_resolution(Metadata& metadata, std::vector<std::string>& lost);

}  // namespace impipe::io
