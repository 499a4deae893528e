// Where the chunks of an EXR lie, for devices that decode them.
#pragma once

#include <optional>

#include "io/module/codec_module.hpp"

namespace impipe::io {

// See CodecModule::scan.
std::optional<PackedPicture> scan_exr(std::span<const std::byte> file, const ImageInfo& info);

}  // namespace impipe::io
