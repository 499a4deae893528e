// Distance transforms: nearest set rows of each column, a band of rows at a time, then each row
// from those of its columns.
#include "backends/cpu/transform/distance.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/scratch.hpp"
#include "core/error.hpp"
#include "core/kernel_spec.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// Columns are scanned a band of rows at a time, so that a band stays in the cache.
constexpr std::int64_t distance_band = 16;

// Rows of one channel of any class; a row is `stride` bytes from the next.
struct BandRows {
  const std::byte* data = nullptr;
  std::int64_t stride = 0, width = 0, height = 0;
};

// Of each column of a band the first and the last set row, counted from 1; 0: none.
using MarkBand = void (*)(const BandRows& band, std::uint8_t* first, std::uint8_t* last);

// Of each pixel of a band the nearest set row, the upper one of two, as rows of int32. above,
// below: the nearest set rows of each column over and under the band; y0: the band's first row.
struct NearestRows {
  const std::int32_t* above = nullptr;
  const std::int32_t* below = nullptr;
  std::byte* out = nullptr;
  std::int64_t stride = 0;
};
using FillBand = void (*)(const BandRows& band, std::int64_t y0, const NearestRows& nearest);

// One row of results from the nearest set rows of its columns, in place: int32 before, float after.
struct DistanceRow {
  std::byte* data = nullptr;
  std::int64_t width = 0, height = 0, y = 0;
  // More than any distance in the image; a column whose nearest row is as far away has none.
  std::int64_t none = 0;
  void* scratch = nullptr;  // distance_scratch_bytes(width), at a multiple of 64 bytes
};

using FinishRow = void (*)(const DistanceRow& row);

using Metric = Distance::Metric;

constexpr double quasi_step = 0.41421356237309504880;  // sqrt(2) - 1

// Whole blocks of 16, and what vectors read behind the last column of a range.
constexpr std::int64_t padded_width(std::int64_t width) { return (width + 15) / 16 * 16 + 16; }

#define IMPIPE_KERNELS "backends/cpu/transform/distance_rows.inc"
#include "backends/cpu/simd/each_level.inc"

template <bool index>
FinishRow finish_for(Metric metric, bool wide, CpuLevel level) {
#define IMPIPE_FINISH(name, T, I) IMPIPE_AT_LEVEL(level, finish<Metric::name, index, T, I>)
  switch (metric) {
    case Metric::euclidean:
      if (wide) return IMPIPE_FINISH(euclidean, double, std::int64_t);
      return IMPIPE_FINISH(euclidean, std::int32_t, std::int32_t);
    case Metric::cityblock: return IMPIPE_FINISH(cityblock, std::int32_t, std::int32_t);
    case Metric::chessboard: return IMPIPE_FINISH(chessboard, std::int32_t, std::int32_t);
    default: return IMPIPE_FINISH(quasi_euclidean, double, std::int64_t);
  }
#undef IMPIPE_FINISH
}

// logical and uint8 are read alike.
MarkBand mark_band(PixelClass cls, CpuLevel level) {
  return with_pixel(cls, [&](auto pixel) { return IMPIPE_AT_LEVEL(level, mark<decltype(pixel)>); });
}

FillBand fill_band(PixelClass cls, CpuLevel level) {
  return with_pixel(cls, [&](auto pixel) { return IMPIPE_AT_LEVEL(level, fill<decltype(pixel)>); });
}

std::int64_t distance_scratch_bytes(std::int64_t width) {
  // Two rows of values and one of columns of at most 8 bytes, and two of int32.
  return padded_width(width) * (3 * 8 + 2 * 4);
}

// wide: squared distances need more than 31 bits.
FinishRow finish_row(const Distance& distance, bool wide, CpuLevel level) {
  return distance.index ? finish_for<true>(distance.metric, wide, level)
                        : finish_for<false>(distance.metric, wide, level);
}

class DistanceRun {
 public:
  DistanceRun(const Distance& distance, const Plane& in, Plane& out, ThreadPool& pool,
              CpuLevel level)
      : in_(in),
        out_(out),
        pool_(pool),
        level_(level),
        width_(in.size().width),
        height_(in.size().height),
        bands_((height_ + distance_band - 1) / distance_band),
        none_(width_ + height_),
        finish_(
            finish_row(distance, none_ * none_ + (width_ + 32) * (width_ + 32) >= limit, level)),
        above_(static_cast<std::size_t>(bands_ * width_)),
        below_(above_.size()) {}

  void run() {
    mark();
    carry();
    const FillBand fill = fill_band(in_.cls(), level_);
    pool_.for_each(bands_, [&](std::int64_t b) {
      const std::int64_t y0 = b * distance_band;
      const BandRows rows = band(b);
      fill(rows, y0,
           {above_.data() + b * width_, below_.data() + b * width_, out_.row(y0), out_.stride()});
      Scratch scratch;
      void* work = scratch.take<std::byte>(distance_scratch_bytes(width_));
      for (std::int64_t y = y0; y < y0 + rows.height; ++y) {
        finish_({out_.row(y), width_, height_, y, none_, work});
      }
    });
  }

 private:
  static constexpr std::int64_t limit = std::int64_t{1} << 31;

  BandRows band(std::int64_t b) const {
    const std::int64_t y0 = b * distance_band;
    return {in_.row(y0), in_.stride(), width_, std::min(distance_band, height_ - y0)};
  }

  void mark() {
    first_.resize(above_.size());
    last_.resize(above_.size());
    const MarkBand mark_rows = mark_band(in_.cls(), level_);
    pool_.for_each(bands_, [&](std::int64_t b) {
      mark_rows(band(b), first_.data() + b * width_, last_.data() + b * width_);
    });
  }

  // From the marks inside the bands to the nearest set rows over and under each.
  void carry() {
    constexpr std::int64_t chunk = 256;  // columns
    pool_.for_each((width_ + chunk - 1) / chunk, [&](std::int64_t c) {
      const std::int64_t x0 = c * chunk, n = std::min(chunk, width_ - x0);
      std::int32_t nearest[chunk];
      std::fill_n(nearest, n, static_cast<std::int32_t>(-none_));
      for (std::int64_t b = 0; b < bands_; ++b) {
        const std::int64_t at = b * width_ + x0;
        const std::int32_t y0 = static_cast<std::int32_t>(b * distance_band) - 1;
        for (std::int64_t i = 0; i < n; ++i) {
          above_[at + i] = nearest[i];
          nearest[i] = last_[at + i] != 0 ? y0 + last_[at + i] : nearest[i];
        }
      }
      std::fill_n(nearest, n, static_cast<std::int32_t>(height_ + none_));
      for (std::int64_t b = bands_; b-- > 0;) {
        const std::int64_t at = b * width_ + x0;
        const std::int32_t y0 = static_cast<std::int32_t>(b * distance_band) - 1;
        for (std::int64_t i = 0; i < n; ++i) {
          below_[at + i] = nearest[i];
          nearest[i] = first_[at + i] != 0 ? y0 + first_[at + i] : nearest[i];
        }
      }
    });
  }

  const Plane& in_;
  Plane& out_;
  ThreadPool& pool_;
  CpuLevel level_;
  std::int64_t width_, height_, bands_;
  std::int64_t none_;  // more than any distance in the image
  FinishRow finish_;
  // Of each band and column: set rows inside the band, and the nearest ones outside it.
  std::vector<std::uint8_t> first_, last_;
  std::vector<std::int32_t> above_, below_;
};

}  // namespace

void run_distance(const Distance& distance, const Plane& in, Plane& out, ThreadPool& pool,
                  CpuLevel level) {
  constexpr std::int64_t most = 500'000'000;  // so that rows, and three times none, fit int32
  if (in.size().width + in.size().height > most) {
    throw Error("bwdist: the image is too large: " + to_string(in.size()), ExitCode::file_failed);
  }
  DistanceRun(distance, in, out, pool, level).run();
}

}  // namespace impipe::cpu
