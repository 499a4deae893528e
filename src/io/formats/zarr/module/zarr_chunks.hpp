// The bytes of chunks, packed and unpacked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/formats/zarr/zarr_array.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

// What was packed so, of as many bytes. Throws Error.
Bytes unpacked_chunk(std::span<const std::byte> packed, std::span<const ZarrPacking> packings,
                     std::int64_t bytes);

// By Blosc, items of so many bytes.
Bytes packed_by_blosc(std::span<const std::byte> items, int item_bytes, Compression compression);

}  // namespace impipe::io
