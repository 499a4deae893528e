// Logical images as bits, 64 pixels a word: what connected components are found in.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

class BitPlane {
 public:
  explicit BitPlane(Size size)
      : size_(size),
        words_((size.width + 63) / 64),
        bits_(static_cast<std::size_t>(words_ * size.height)) {}

  Size size() const { return size_; }
  std::int64_t words() const { return words_; }  // a row
  // Bits behind the last column are 0.
  std::uint64_t* row(std::int64_t y) { return bits_.data() + y * words_; }
  const std::uint64_t* row(std::int64_t y) const { return bits_.data() + y * words_; }
  // The bits of the row's last word that are columns.
  std::uint64_t last_word() const {
    return size_.width % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << size_.width % 64) - 1;
  }

 private:
  Size size_;
  std::int64_t words_;
  std::vector<std::uint64_t> bits_;
};

// Columns [begin, end) of a row.
void set_bits(std::uint64_t* row, std::int64_t begin, std::int64_t end);
bool any_bit(const std::uint64_t* row, std::int64_t begin, std::int64_t end);

// The bytes of a row, 0 or 1, as bits, and back. As many words as the row has.
void pack_bits(const std::uint8_t* bytes, std::int64_t count, std::uint64_t* row, CpuLevel level);
void unpack_bits(const std::uint64_t* row, std::int64_t count, bool inverted, std::uint8_t* bytes,
                 CpuLevel level);

// Whether each of `count` pixels is not 0, as bytes.
void find_set(PixelClass cls, const std::byte* pixels, std::int64_t count, std::uint8_t* bytes,
              CpuLevel level);

// Rows of pixels with one more at either end, which count as smaller (or, of minima, larger) than
// every pixel; likewise whole rows outside the image. Bytes outside are 1.
struct PeakRows {
  const void* pixels[3] = {};         // over, on and under the row
  const std::uint8_t* peaks[3] = {};  // likewise, of bytes; read by mark_lost_peaks
  std::uint8_t* out = nullptr;
  std::int64_t count = 0;
};
struct PeakKind {
  PixelClass cls = PixelClass::uint8;
  bool largest = true;
  bool corners = true;  // the neighbours are 8, not 4
};
// out: whether no neighbour is larger.
void mark_peaks(const PeakKind& kind, const PeakRows& rows, CpuLevel level);
// out: whether it is a peak that has an equal neighbour which is none.
void mark_lost_peaks(const PeakKind& kind, const PeakRows& rows, CpuLevel level);

}  // namespace impipe::cpu
