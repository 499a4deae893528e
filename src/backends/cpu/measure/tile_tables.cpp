// Histograms of the tiles of an image in a mirrored frame.
#include "backends/cpu/measure/tile_tables.hpp"

#include <algorithm>

#include "backends/cpu/measure/byte_counts.hpp"
#include "backends/cpu/measure/tile_bins.hpp"
#include "core/image.hpp"
#include "core/placement.hpp"
#include "core/plane_rows.hpp"
#include "core/region.hpp"

namespace impipe::cpu {
namespace {

// Places of the framed image as places of the image.
std::vector<std::int64_t> mirrored(std::int64_t before, std::int64_t all, std::int64_t size) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(all));
  for (std::int64_t i = 0; i < all; ++i) {
    places[static_cast<std::size_t>(i)] = map_outside(i - before, size, Border::symmetric);
  }
  return places;
}

// The counts of a tile of so many pixels: of bytes by code where there are many, else by bin.
template <class T>
class TileCounts {
 public:
  TileCounts(const TileBins& bins, std::int64_t count, std::int64_t pixels)
      : bins_(bins), count_(count), by_code_(sizeof(T) == 1 && pixels > byte_tables * 256) {
    counts_.resize(static_cast<std::size_t>(by_code_ ? byte_tables * 256 : turns * count));
  }

  // Pixels side by side.
  void add(const T* row, std::int64_t n) {
    if constexpr (sizeof(T) == 1) {
      if (by_code_) return count_bytes(counts_.data(), row, n);
    }
    constexpr std::int64_t chunk = 512;
    std::int32_t bins[chunk];
    for (std::int64_t x = 0; x < n; x += chunk) {
      const std::int64_t part = std::min(chunk, n - x);
      bins_.find(bins, row + x, part);
      for (std::int64_t i = 0; i < part; ++i) ++counts_[i % turns * count_ + bins[i]];
    }
  }

  void store(double* out) const {
    std::fill_n(out, count_, 0.0);
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      const auto place = static_cast<std::int64_t>(k);
      out[by_code_ ? bins_.of_codes()[place % 256] : place % count_] += counts_[k];
    }
  }

 private:
  static constexpr std::int64_t turns = 2;  // equal neighbours don't wait for each other's count
  const TileBins& bins_;
  std::int64_t count_;
  bool by_code_;
  std::vector<std::uint32_t> counts_;
};

template <class T>
void count_tiles(const Histogram& histogram, const TileBins& bins, const Plane& in,
                 ThreadPool& pool, std::vector<double>& out) {
  const TileGrid grid = tile_grid(in.size(), histogram.across, histogram.down);
  const auto xs = mirrored(grid.left, grid.wide * histogram.across, in.size().width);
  const auto ys = mirrored(grid.top, grid.tall * histogram.down, in.size().height);
  pool.for_each(std::int64_t{histogram.across} * histogram.down, [&](std::int64_t tile) {
    TileCounts<T> counts(bins, histogram.bins, grid.wide * grid.tall);
    const std::int64_t x0 = tile % histogram.across * grid.wide, x1 = x0 + grid.wide;
    const std::int64_t y0 = tile / histogram.across * grid.tall;
    // Pixels of the frame are taken one by one, those between lie side by side.
    const std::int64_t inner = std::clamp(grid.left, x0, x1);
    const std::int64_t behind = std::clamp(grid.left + in.size().width, inner, x1);
    for (std::int64_t y = y0; y < y0 + grid.tall; ++y) {
      const T* row = in.row_as<T>(ys[static_cast<std::size_t>(y)]);
      const auto add_frame = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t x = from; x < to; ++x) {
          counts.add(row + xs[static_cast<std::size_t>(x)], 1);
        }
      };
      add_frame(x0, inner);
      counts.add(row + inner - grid.left, behind - inner);
      add_frame(behind, x1);
    }
    counts.store(out.data() + tile * histogram.bins);
  });
}

}  // namespace

std::vector<double> tile_counts(const Histogram& histogram, double white, const Plane& in,
                                ThreadPool& pool, CpuLevel level) {
  const TileBins bins(in.cls(), white, histogram.bins, level);
  std::vector<double> out(static_cast<std::size_t>(histogram.across) *
                          static_cast<std::size_t>(histogram.down) *
                          static_cast<std::size_t>(histogram.bins));
  with_pixel(in.cls(),
             [&](auto pixel) { count_tiles<decltype(pixel)>(histogram, bins, in, pool, out); });
  return out;
}

}  // namespace impipe::cpu
