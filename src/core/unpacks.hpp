// Which lossless pictures a device can decode.
#pragma once

#include "core/packed_picture.hpp"

namespace impipe {

// Bytes of a chunk, unpacked, at most.
inline constexpr std::int64_t max_chunk_bytes = (std::int64_t{1} << 28) - 64;

// Whether the devices that decode lossless pictures know this form: Device::prepare_unpacker gives
// them a kernel for it. A function of the form alone.
bool unpacks(const PackedForm& form);

}  // namespace impipe
