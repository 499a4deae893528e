// Between interleaved rows, as files and host images have them, and planes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace impipe {

// Channel `channel` of `count` interleaved pixels of `channels` channels, `bytes` (1, 2 or 4) a
// value.
void take_channel(const std::byte* interleaved, int channels, int channel, int bytes,
                  std::int64_t count, std::byte* plane);
void put_channel(const std::byte* plane, int channels, int channel, int bytes, std::int64_t count,
                 std::byte* interleaved);

}  // namespace impipe
