// What a BMP's header says: where the pixels lie, how they are coded, what their bits mean.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/formats/format_traits.hpp"

namespace impipe::io {

// How pixels lie in the file.
enum class BmpCoding { plain, rle4, rle8, rle24 };
using BmpColour = std::array<std::uint8_t, 3>;  // red, green, blue

struct BmpHeader {
  ImageInfo info;
  int bits = 0;  // a pixel
  BmpCoding coding = BmpCoding::plain;
  bool top_down = false;
  std::array<std::uint32_t, 4> masks{};  // red, green, blue, alpha; of 16 and 32 bits
  std::vector<BmpColour> palette;        // of 1 to 8 bits
  std::int64_t data = 0;                 // offset of the pixels
  std::int64_t row_bytes = 0;            // in the file, plain
};
BmpHeader bmp_layout(const ByteSource& source);

HostImage decode_bmp(const DecodeInput& input, Decoded& out);
Bytes encode_bmp(HostImage& image, const EncodeInput& input, Encoded& out);

}  // namespace impipe::io
