// Fields of a file's metadata that describe the place, the size or the meaning of its pixels, and
// what becomes of them where the result's pixels are others. docs/formats.md has the same table.
#pragma once

#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// Adapts what can be told of the result, of this type in its file, by metadata.change; leaves out
// what is not true of it any more, whose names go to `lost`.
void drop_stale_fields(Metadata& metadata, const ImageType& result, std::vector<std::string>& lost);

// What the axes of the result measure, where rows of it are rows or columns of the file; else those
// of its pages alone.
std::vector<MeasuredAxis> measured_of_result(const Metadata& metadata);

// The same of the resolution alone, where it differs in x and y.
void follow_resolution(Metadata& metadata, std::vector<std::string>& lost);

}  // namespace impipe::io
