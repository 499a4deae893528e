// Where the chunks of an EXR lie, for devices that decode them.
#pragma once

#include <Imath/ImathBox.h>
#include <OpenEXR/ImfInputFile.h>

#include <array>
#include <optional>

#include "io/formats/exr/exr_layout.hpp"
#include "io/module/codec_module.hpp"

namespace impipe::io {

Imath::Box2i box_of(const std::array<int, 4>& window);
// Throws Error where OpenEXR has read other channels or another window than our own header has, or
// lines are missing.
void check_headers(const Imf::InputFile& file, const ExrLayout& layout);

// See CodecModule::scan.
std::optional<PackedPicture> scan_exr(std::span<const std::byte> file, const ImageInfo& info);

}  // namespace impipe::io
