// What a GIF says beside its pixels.
#pragma once

#include <span>

#include "io/picture/metadata.hpp"

namespace impipe::io {

MetadataRead read_gif_metadata(std::span<const std::byte> file);

}  // namespace impipe::io
