// Bytes counted by their codes.
#pragma once

#include <cstdint>
#include <cstring>

namespace impipe::cpu {

// counts: [byte_tables][256]. Tables in turn: equal neighbours don't wait for each other's count.
// Eight bytes are read at once.
inline constexpr int byte_tables = 8;
inline void count_bytes(std::uint32_t* counts, const std::uint8_t* in, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + byte_tables <= n; i += byte_tables) {
    std::uint64_t codes;
    std::memcpy(&codes, in + i, sizeof codes);
    ++counts[codes & 255];
    ++counts[256 + (codes >> 8 & 255)];
    ++counts[512 + (codes >> 16 & 255)];
    ++counts[768 + (codes >> 24 & 255)];
    ++counts[1024 + (codes >> 32 & 255)];
    ++counts[1280 + (codes >> 40 & 255)];
    ++counts[1536 + (codes >> 48 & 255)];
    ++counts[1792 + (codes >> 56)];
  }
  for (; i < n; ++i) ++counts[in[i]];
}

}  // namespace impipe::cpu
