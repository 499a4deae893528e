// The codes of deflate (RFC 1951) for literals, the end of a block and lengths of matches.
#pragma once

#include <array>
#include <cstdint>

namespace impipe::io {

constexpr int deflate_symbols = 286;  // literals, the end, lengths
constexpr int longest_code = 14;      // four codes and a byte's rest fit 64 bits

using SymbolCounts = std::array<std::uint32_t, deflate_symbols>;
using CodeLengths = std::array<std::uint8_t, deflate_symbols>;

// A code, lowest bit first, and its length.
struct DeflateCodes {
  std::array<std::uint16_t, deflate_symbols> code;
  CodeLengths length;
};

// The shortest codes of at most longest_code bits; symbols that are not there have none.
DeflateCodes shortest_codes(const SymbolCounts& counts);

// Codes that a vector of bytes finds by the halves of each byte, some percent longer than the
// shortest. Bytes 0 to 15 and 240 to 255, as filters leave most, have short ones; all other bytes
// have codes of one length, 9 to 12 bits, the longest of a byte: the byte's upper half decides the
// bits before the last four, and its lower half is the last four.
DeflateCodes codes_by_halves(const SymbolCounts& counts);

}  // namespace impipe::io
