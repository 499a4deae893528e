// EXIF, ICC and XMP in files in memory.
#pragma once

#include "io/module/codecs.hpp"

namespace impipe::io {

Metadata read_exiv2(std::span<const std::byte> bytes);
Bytes write_exiv2(Bytes file, Format format, const Metadata& metadata, Size size);

}  // namespace impipe::io
