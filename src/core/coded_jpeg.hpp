// A JPEG as a device decodes it: what its headers say, and its entropy-coded data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace impipe {

// What JPEGs have in common that are decoded by one launch.
struct JpegForm {
  Size size;
  int components = 3;  // 3: YCbCr, to be made red, green, blue; 1: gray
  // Pixels that a sample of a colour difference stands for.
  int across = 1, down = 1;
  bool operator==(const JpegForm&) const = default;

  int blocks_a_unit() const { return components == 1 ? 1 : across * down + 2; }
  std::int64_t units_across() const { return (size.width + 8 * across - 1) / (8 * across); }
  std::int64_t units_down() const { return (size.height + 8 * down - 1) / (8 * down); }
  std::int64_t units() const { return units_across() * units_down(); }
  std::int64_t blocks() const { return units() * blocks_a_unit(); }
};

// Codes of 1 to 16 bits, in the order of their values.
struct HuffmanCodes {
  std::array<std::uint8_t, 17> counts{};  // of each length; [0] is not used
  std::array<std::uint8_t, 256> symbols{};
  bool operator==(const HuffmanCodes&) const = default;
};

// Of gray the first of two tables is the one.
struct JpegTables {
  std::array<HuffmanCodes, 2> dc, ac;                    // of luminance, of both colour differences
  std::array<std::array<std::uint16_t, 64>, 3> steps{};  // of quantisation, row by row
  bool operator==(const JpegTables&) const = default;
};

// Where a device encodes, the form and the tables alone.
struct CodedJpeg {
  JpegForm form;
  JpegTables tables;
  // The units between two restarts are a segment; each but the last has so many.
  std::int64_t units_a_segment = 0;
  struct Segment {
    std::int64_t begin = 0;  // into `bytes`, a multiple of 4
    std::int64_t bytes = 0;
  };
  std::vector<Segment> segments;
  // The segments without their stuffed zeros, whole words of 4 bytes each.
  std::vector<std::byte> bytes;
};

// Bytes that a device has for a picture's data when it encodes them: 16 bits a coefficient.
inline std::int64_t jpeg_room(const JpegForm& form) { return 128 * form.blocks(); }
// Where the data of pictures lie that a device has encoded together, in rows of a plane that follow
// each other without a gap.
struct CodedPlaces {
  static constexpr std::int64_t row = std::int64_t{48} << 10, step = 1024;
  std::vector<std::int64_t> begins, bytes;  // none where there was no room for a picture's data
  Size size;                                // of the plane

  // numbers: so many for each picture, of which the first two count; see
  // Device::prepare_jpeg_encoder.
  explicit CodedPlaces(const std::vector<double>& numbers, std::size_t of_picture = 2) {
    std::int64_t end = 0;
    for (std::size_t at = 0; at + 1 < numbers.size(); at += of_picture) {
      begins.push_back(end);
      bytes.push_back(numbers[at + 1] != 0 ? 0 : static_cast<std::int64_t>(numbers[at]));
      end += (bytes.back() + step - 1) / step * step;
    }
    size = {row, (end + row - 1) / row};
  }
};
// Pictures with more are left to the host: bits are counted in 32 bits.
inline constexpr std::int64_t jpeg_max_blocks_encoded = std::int64_t{1} << 21;

}  // namespace impipe
