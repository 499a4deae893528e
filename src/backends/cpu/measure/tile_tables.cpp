// Tiles of an image in a mirrored frame. Integer classes have a table of their codes' bins, and
// bytes are counted by code.
#include "backends/cpu/measure/tile_tables.hpp"

#include <algorithm>
#include <cmath>

#include "core/image.hpp"
#include "core/placement.hpp"
#include "core/region.hpp"
#include "core/vocabulary.hpp"

namespace impipe::cpu {
namespace {

std::uint32_t bin_of(double value, double white, int bins) {
  const double known = value == value ? bodies::clamp(value, 0.0, white) : 0.0;
  return static_cast<std::uint32_t>(std::floor(known * (bins - 1) / white + 0.5));
}

// The bins of pixels; of integer classes from a table.
template <class T>
class Bins {
 public:
  Bins(PixelClass cls, double white, int bins) : white_(white), bins_(bins) {
    if (!is_integer(cls)) return;
    for (int code = 0; code <= static_cast<int>(class_max(cls)); ++code) {
      of_codes_.push_back(bin_of(code, white, bins));
    }
    of_codes_.resize(std::max<std::size_t>(of_codes_.size(), 256));
  }
  std::uint32_t operator()(T value) const {
    if constexpr (std::is_same_v<T, float>) return bin_of(value, white_, bins_);
    return of_codes_[static_cast<std::size_t>(value)];
  }

 private:
  double white_;
  int bins_;
  std::vector<std::uint32_t> of_codes_;
};

// Places of the framed image as places of the image.
std::vector<std::int64_t> mirrored(std::int64_t before, std::int64_t all, std::int64_t size) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(all));
  for (std::int64_t i = 0; i < all; ++i) {
    places[static_cast<std::size_t>(i)] = map_outside(i - before, size, Border::symmetric);
  }
  return places;
}

template <class T>
void count_tiles(const TileHistogram& histogram, double white, const Plane& in, ThreadPool& pool,
                 std::vector<double>& out) {
  const Bins<T> bins(in.cls(), white, histogram.bins);
  const TileGrid grid = tile_grid(in.size(), histogram.across, histogram.down);
  const auto xs = mirrored(grid.left, grid.wide * histogram.across, in.size().width);
  const auto ys = mirrored(grid.top, grid.tall * histogram.down, in.size().height);
  pool.for_each(std::int64_t{histogram.across} * histogram.down, [&](std::int64_t tile) {
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(histogram.bins));
    const std::int64_t x0 = tile % histogram.across * grid.wide;
    const std::int64_t y0 = tile / histogram.across * grid.tall;
    for (std::int64_t y = y0; y < y0 + grid.tall; ++y) {
      const T* row = in.row_as<T>(ys[static_cast<std::size_t>(y)]);
      for (std::int64_t x = x0; x < x0 + grid.wide; ++x) {
        ++counts[bins(row[xs[static_cast<std::size_t>(x)]])];
      }
    }
    std::copy(counts.begin(), counts.end(), out.begin() + tile * histogram.bins);
  });
}

// Along one direction: the tiles before and behind each pixel, how far it is from the centre of the
// first, and how far apart the two are.
struct Between {
  std::int64_t before = 0, behind = 0;
  double from = 0, apart = 0;
};
std::vector<Between> between_of(std::int64_t frame, std::int64_t side, int tiles,
                                std::int64_t size) {
  std::vector<Between> out(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t place = i + frame, k = (place + side / 2) / side;
    const bool end = k == 0 || k == tiles;
    out[static_cast<std::size_t>(i)] = {
        std::max<std::int64_t>(k - 1, 0), std::min<std::int64_t>(k, tiles - 1),
        static_cast<double>(place - (k == 0 ? 0 : k * side - side / 2)),
        static_cast<double>(end ? side / 2 : side)};
  }
  return out;
}

template <class T>
T as_pixel(double value, PixelClass cls) {
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
  if (cls == PixelClass::logical) return value != 0 ? 1 : 0;
  return static_cast<T>(bodies::to_code(value, static_cast<double>(class_max(cls))));
}

template <class T>
void between_tables(const BetweenTables& of, std::span<const double> tables, double white,
                    const Plane& in, Plane& out, ThreadPool& pool) {
  const Bins<T> bins(in.cls(), white, of.bins);
  const Size size = in.size();
  const TileGrid grid = tile_grid(size, of.across, of.down);
  const auto xs = between_of(grid.left, grid.wide, of.across, size.width);
  const auto ys = between_of(grid.top, grid.tall, of.down, size.height);
  pool.for_each(size.height, [&](std::int64_t y) {
    const Between& v = ys[static_cast<std::size_t>(y)];
    const double* above = tables.data() + v.before * of.across * of.bins;
    const double* below = tables.data() + v.behind * of.across * of.bins;
    const T* from = in.row_as<T>(y);
    T* to = out.row_as<T>(y);
    for (std::int64_t x = 0; x < size.width; ++x) {
      const Between& u = xs[static_cast<std::size_t>(x)];
      const std::int64_t bin = bins(from[x]);
      const std::int64_t left = u.before * of.bins + bin, right = u.behind * of.bins + bin;
      const double upper = (u.apart - u.from) * above[left] + u.from * above[right];
      const double lower = (u.apart - u.from) * below[left] + u.from * below[right];
      const double value = ((v.apart - v.from) * upper + v.from * lower) / (v.apart * u.apart);
      to[x] = as_pixel<T>(value, out.cls());
    }
  });
}

// Calls `run` with a pixel of the class.
template <class Run>
void for_class(PixelClass cls, const Run& run) {
  switch (cls) {
    case PixelClass::logical:
    case PixelClass::uint8: return run(std::uint8_t{});
    case PixelClass::uint16: return run(std::uint16_t{});
    case PixelClass::single: return run(float{});
  }
}

}  // namespace

std::vector<double> tile_counts(const TileHistogram& histogram, double white, const Plane& in,
                                ThreadPool& pool) {
  std::vector<double> out(static_cast<std::size_t>(histogram.across) *
                          static_cast<std::size_t>(histogram.down) *
                          static_cast<std::size_t>(histogram.bins));
  for_class(in.cls(),
            [&](auto pixel) { count_tiles<decltype(pixel)>(histogram, white, in, pool, out); });
  return out;
}

void run_between_tables(const BetweenTables& between, std::span<const double> tables, double white,
                        const Plane& in, Plane& out, ThreadPool& pool) {
  for_class(in.cls(), [&](auto pixel) {
    between_tables<decltype(pixel)>(between, tables, white, in, out, pool);
  });
}

}  // namespace impipe::cpu
