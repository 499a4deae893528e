// Samples of 9 to 15 bits, as files have them, and the full range of 16 that images have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace impipe::io {

// Each goes to the nearest of the other's codes, so that widening and narrowing gives the same.
inline void widen(std::span<std::uint16_t> samples, int bits) {
  const std::uint32_t top = (1u << bits) - 1;
  for (std::uint16_t& value : samples) {
    const std::uint64_t code = std::min<std::uint32_t>(value, top);
    value = static_cast<std::uint16_t>((2 * code * 65535 + top) / (2 * std::uint64_t{top}));
  }
}
inline std::uint16_t narrowed(std::uint16_t value, int bits) {
  const std::uint64_t top = (1u << bits) - 1;
  return static_cast<std::uint16_t>((2 * value * top + 65535) / (2 * 65535));
}

}  // namespace impipe::io
