// What statistics of windows read: a part of an image as rows of numbers, with pixels outside it.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/cpu/tile/border_view.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::cpu {

constexpr std::int64_t max_block = 64;  // pixels that a kernel makes at once

// The values that the windows of a tile's pixels read, as numbers, with a block of a
// kernel behind each row.
class WindowValues {
 public:
  WindowValues(const Mask& mask, Border border, const Plane& in, std::int64_t x0, std::int64_t y0,
               Size tile, CpuLevel level)
      : width_(tile.width + mask.width - 1), stride_(width_ + max_block) {
    const std::int64_t height = tile.height + mask.height - 1;
    values_.resize(static_cast<std::size_t>(stride_ * height));
    const std::int64_t left = x0 - mask.origin_x, right = left + width_;
    const std::int64_t begin = std::clamp<std::int64_t>(left, 0, in.size().width);
    const std::int64_t end = std::clamp<std::int64_t>(right, begin, in.size().width);
    const int pixel = bytes_of(in.cls());
    for (std::int64_t y = 0; y < height; ++y) {
      float* const to = values_.data() + y * stride_;
      rows_.push_back(to);
      const std::int64_t row = map_outside(y0 - mask.origin_y + y, in.size().height, border);
      if (row < 0) continue;  // zeros
      const std::byte* const from = in.row(row);
      load_row(to + (begin - left), from + begin * pixel, in.cls(), end - begin, level);
      for (std::int64_t x = left; x < right; ++x) {
        if (x == begin && end > begin) x = end;
        if (x == right) break;
        const std::int64_t place = map_outside(x, in.size().width, border);
        if (place >= 0) load_row(to + (x - left), from + place * pixel, in.cls(), 1, level);
      }
    }
  }

  // The rows of the windows of row y of the tile.
  const float* const* rows(std::int64_t y) const { return rows_.data() + y; }
  std::int64_t width() const { return width_; }

 private:
  std::int64_t width_, stride_;
  std::vector<float> values_;
  std::vector<const float*> rows_;
};

}  // namespace impipe::cpu
