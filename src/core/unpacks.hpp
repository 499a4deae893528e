// Which lossless pictures a device can decode and encode.
#pragma once

#include "core/packed_picture.hpp"

namespace impipe {

// Bytes of a chunk, unpacked, at most.
inline constexpr std::int64_t max_chunk_bytes = (std::int64_t{1} << 28) - 64;

// Bytes of a deflated chunk, unpacked, above which a device looks for its stream's blocks to
// inflate them at once: with fewer a group goes through the stream in the time that the search
// takes.
inline constexpr std::int64_t least_stream_bytes = std::int64_t{1} << 19;

// Whether the devices that decode lossless pictures know this form: Device::prepare_unpacker gives
// them a kernel for it. A function of the form alone.
bool unpacks(const PackedForm& form);

// Whether devices pack pictures of this form: packing none, zlib or lzw; logical pixels of 1 bit
// (one channel, no filter but PNG's), 8 or 16, uint8 of 8, uint16 of 16, single as floats or
// halves; associated alpha of single alone; no palettes; float_differences of floats and halves
// alone, exr of no single bits; at most 65,535 chunks and less than 1 GiB a picture.
bool packs(const PackedForm& form);

}  // namespace impipe
