// Rows of 1-bit pixels, eight to a byte with the first in the highest bit, to and from one byte
// each.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace impipe::io {

// `from`: logical pixels, 0 or 1. The last byte is filled up with zeros.
inline void pack_bits(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  const std::int64_t whole = count / 8;
  for (std::int64_t i = 0; i < whole; ++i) {
    unsigned byte = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::uint64_t eight;
      std::memcpy(&eight, from + 8 * i, 8);
      // Brings bit 8 k of the word to bit 63 - k; the other products end above or below.
      byte = static_cast<unsigned>((eight * 0x8040201008040201u) >> 56);
    } else {
      for (int b = 0; b < 8; ++b) byte = byte << 1 | from[8 * i + b];
    }
    to[i] = static_cast<std::uint8_t>(byte);
  }
  if (count % 8 == 0) return;
  unsigned byte = 0;
  for (std::int64_t i = 8 * whole; i < 8 * whole + 8; ++i) {
    byte = byte << 1 | (i < count ? from[i] : 0u);
  }
  to[whole] = static_cast<std::uint8_t>(byte);
}

inline void unpack_bits(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  static constexpr auto table = [] {
    std::array<std::array<std::uint8_t, 8>, 256> out{};
    for (int byte = 0; byte < 256; ++byte) {
      for (int b = 0; b < 8; ++b) out[byte][b] = (byte >> (7 - b)) & 1;
    }
    return out;
  }();
  const std::int64_t whole = count / 8;
  for (std::int64_t i = 0; i < whole; ++i) std::memcpy(to + 8 * i, table[from[i]].data(), 8);
  if (count % 8 != 0) {
    std::memcpy(to + 8 * whole, table[from[whole]].data(), static_cast<size_t>(count % 8));
  }
}

}  // namespace impipe::io
