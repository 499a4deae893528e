// Buffers of bytes that are kept for the next file: new memory costs a page fault every 4 KiB,
// which is more than reading, unpacking or writing these bytes takes.
#pragma once

#include <cstddef>
#include <vector>

namespace impipe {

// `size` bytes of any contents.
std::vector<std::byte> kept_bytes(std::size_t size);
// An empty buffer with room for `size` bytes.
std::vector<std::byte> kept_room(std::size_t size);
// For the next one who asks. What is more than keep_at_most has said, at first 256 MiB, is let go.
void keep_bytes(std::vector<std::byte> bytes) noexcept;
void keep_at_most(std::size_t bytes) noexcept;

}  // namespace impipe
