// TIFFs whose strips or tiles are pictures of another format: JPEG 2000, JPEG XL, PNG.
#pragma once

#include <cstdint>
#include <optional>

#include "io/formats/tiff/tiff_header.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

// Tags of where strips and tiles are.
inline constexpr std::uint16_t strip_offsets = 273, strip_byte_counts = 279, tile_offsets = 324,
                               tile_byte_counts = 325;

// The format of the strips or tiles of such a TIFF, which its codec decodes; nothing for others.
// By the numbers that Aperio (33005), GDAL and imagecodecs (34712, 34933, 50002) and DNG 1.7
// (52546) write.
std::optional<Format> format_of_blocks(const TiffLayout& layout);

// The picture of a TIFF of which `info.blocks` says the format. Throws Error for strips and tiles
// that hold something else than the directory says.
HostImage decode_blocks(std::span<const std::byte> file, const ImageInfo& info);

}  // namespace impipe::io
