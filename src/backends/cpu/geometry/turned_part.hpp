// The part of an input that a block of an affine map reads, copied to where the first cache has it.
#pragma once

#include <cmath>
#include <span>

#include "backends/cpu/geometry/place_rule.hpp"
#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

// What stands at a place of the copy, so that one load brings all that a pixel of the output needs.
enum class PartWord : std::uint8_t {
  pixel,     // of a channel
  below,     // a pixel and the one below it; with the word behind it the four around a place
  column,    // a byte and the three below it
  channels,  // the pixels of up to four channels
};
constexpr int pixels_of(PartWord word) {
  return word == PartWord::pixel ? 1 : word == PartWord::below ? 2 : 4;
}

// What the copy has beside the image: the value outside, or for two pixels the image mirrored.
enum class PartFrame : std::uint8_t { outside, mirrored };

// Rows of an image are apart by what often is a power of two, and then few of them fit a cache
// beside each other; rows of the copy are not. It has a frame around the image, so that nobody
// needs to ask what lies inside.
class TurnedPart {
 public:
  // around: how many pixels on each side of a place's four are read with them.
  TurnedPart(const AffinePlace& place, const Region& block, Size in, int pixel_bytes, PartWord word,
             int around);

  // Whether `room` bytes have the part.
  bool fits() const { return stride_ > 0; }
  // Whether no pixel of the image is in it.
  bool is_outside() const;

  // In line, for a function that does nothing but this counts as one without effect and is dropped.
  [[gnu::always_inline]] void ask_for(std::span<const Plane* const> in) const {
    const std::int64_t pixel = bytes_of(in[0]->cls()), end = std::min(region_.y1, in_.height);
    for (const Plane* plane : in) {
      for (std::int64_t y = std::max<std::int64_t>(region_.y0, 0); y < end; ++y) {
        const std::int64_t from = std::clamp<std::int64_t>(from_[y - region_.y0], 0, in_.width);
        const std::int64_t last = std::clamp<std::int64_t>(end_[y - region_.y0], from, in_.width);
        if (from < last) cpu::ask_for(plane->row(y) + from * pixel, (last - from) * pixel);
      }
    }
  }
  // in: one channel, or those of a word. outside: a pixel; its word stands at `room`. memory: room
  // + beyond bytes.
  void copy(std::span<const Plane* const> in, PartFrame frame, const std::byte* outside,
            std::byte* memory, CpuLevel level) const;
  // Where the word of pixel (0, 0) would stand before the copy, in bytes; and from row to row.
  std::int64_t base() const { return region_.y0 * stride_ + region_.x0 * word_bytes_; }
  std::int64_t stride() const { return stride_; }
  int word_bytes() const { return word_bytes_; }

  static constexpr std::int64_t room = 64 << 10, beyond = 64;

 private:
  static constexpr std::int64_t max_rows_read = 256;
  // How far the block's places in a row lie from a column of the row, `at` in row 0.
  struct Side {
    double at = 0, step = 0, below = -HUGE_VAL, above = HUGE_VAL;
  };
  static Side side_of(double from_x, double from_y, double at, std::int64_t first,
                      std::int64_t last);
  void find_ends(const Side& one, const Side& other);

  Size in_;
  PartWord word_;
  int word_bytes_, below_;  // below_: the rows that words have pixels of beside their own
  Region region_{};         // words
  std::int64_t stride_ = 0;
  // Of each row the columns that are read in it or the rows below.
  std::int32_t from_[max_rows_read], end_[max_rows_read];
};

// n equal pixels.
void fill_row(std::byte* out, const std::byte* pixel, int pixel_bytes, std::int64_t n);
// Of n words of channels the pixels of one.
void split_words(const std::byte* words, std::byte* out, int channel, int pixel_bytes,
                 std::int64_t n, CpuLevel level);

}  // namespace impipe::cpu
