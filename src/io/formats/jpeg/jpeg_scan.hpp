// JPEGs that a device may decode.
#pragma once

#include <optional>
#include <span>

#include "core/coded_jpeg.hpp"

namespace impipe::io {

// What a device needs of a baseline or extended sequential JPEG of one scan: gray, or YCbCr of
// whose colour differences a sample stands for 1x1, 2x1, 1x2 or 2x2 pixels. Nothing of any other,
// nor of one that libjpeg would warn of for what lies between its entropy-coded data. Whether the
// data themselves are whole only decoding can tell.
std::optional<CodedJpeg> scan_jpeg(std::span<const std::byte> file);

}  // namespace impipe::io
