// Reads the common kinds of PNG by way of libdeflate, in about half of libpng's time.
#pragma once

#include <optional>

#include "io/formats/png/module/png.hpp"

namespace impipe::io {

// Nothing when the file is of a rarer kind, or broken in any way: libpng has the word then.
std::optional<HostImage> decode_png_directly(InputBytes bytes, const ImageInfo& info,
                                             MakeImage make_image);

// See CodecModule::scan.
std::optional<PackedPicture> scan_png(InputBytes bytes, const ImageInfo& info);

}  // namespace impipe::io
