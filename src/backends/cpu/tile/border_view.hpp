// Views of a tile's input in which every row and column that a neighbourhood reads exists.
#pragma once

#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

// What is outside when the border is `constant` or `absent`.
struct Outside {
  Border border = Border::constant;
  double value = 0;
};

// The rows of a view, each made when it is first asked for, in the image's own class or as float32.
// Rows inside the image that need no conversion are used where they are.
class RowView {
 public:
  // The view's rectangle is `wanted`; rows are given at column wanted.x0 + left.
  RowView(const TileImage& image, const Region& wanted, int left, const Outside& outside,
          PixelClass cls, Scratch& scratch, CpuLevel level);

  // Row wanted.y0 + i. Valid as long as the scratch it was made in, from column wanted.x0 to
  // wanted.x1.
  const std::byte* row(std::int64_t i);
  const float* float_row(std::int64_t i) { return reinterpret_cast<const float*>(row(i)); }
  std::int64_t height() const { return wanted_.height(); }

 private:
  void ask_for(std::int64_t y);
  const std::byte* constant_row();
  const std::byte* make_row(std::int64_t y);
  void copy(std::byte* to, const std::byte* from, std::int64_t pixels);
  void fill_side(std::byte* row, std::int64_t y, std::int64_t from, std::int64_t to);

  TileImage image_;
  Region wanted_;
  Outside outside_;
  PixelClass cls_;
  std::int64_t pixel_;  // bytes
  Scratch& scratch_;
  CpuLevel level_;
  bool sides_;
  bool in_place_;
  std::int64_t left_;  // bytes
  // One a row of the image that is read, from first_made_ on: null until it is made. A row is made
  // once, however often the border repeats it.
  const std::byte** made_ = nullptr;
  std::int64_t first_made_ = 0;
  std::byte* constant_ = nullptr;
  std::int64_t unasked_ = 0;  // the first row that may not be on its way into a cache
};

// All rows, in the image's own class.
const std::byte* const* native_rows(const TileImage& image, const Region& wanted, int left,
                                    const Outside& outside, Scratch& scratch);

}  // namespace impipe::cpu
