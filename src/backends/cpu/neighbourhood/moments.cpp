// Local statistics of two images: moments of rows, in strips of columns that stay in cache, then
// those of columns, and the body of these (core/kernel_spec.hpp, Moments).
#include "backends/cpu/neighbourhood/moments.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/neighbourhood/window_values.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/spares.hpp"

namespace impipe::cpu {
namespace {

struct Window {
  const float* weights = nullptr;
  int taps = 0;
};

// x, y: the leftmost tap of the first result; x_middle, y_middle: what each result counts from.
struct RowTaps {
  const float *x = nullptr, *y = nullptr, *x_middle = nullptr, *y_middle = nullptr;
};

struct RowMoments {
  float *sum = nullptr, *apart = nullptr, *sum_variance = nullptr, *apart_variance = nullptr;
  RowMoments further(std::int64_t n) const {
    return {sum + n, apart + n, sum_variance + n, apart_variance + n};
  }
};

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/moments.inc"
#include "backends/cpu/simd/each_level.inc"

struct MomentKernels {
  decltype(&baseline::moments_of_rows) rows;
  decltype(&baseline::moments_of_columns) columns;
};
MomentKernels kernels_of(CpuLevel level) {
  return {IMPIPE_AT_LEVEL(level, moments_of_rows), IMPIPE_AT_LEVEL(level, moments_of_columns)};
}

// Columns and rows of a part; multiples of 4, which pixels count from others in.
constexpr std::int64_t part_columns = 256, part_rows = 64;
// Numbers that a kernel makes at once, at most.
constexpr std::int64_t max_at_once = 32;

// A strip of columns of some rows.
class Part {
 public:
  Part(const Moments& what, std::span<const float> arguments, const Plane& x, const Plane& y,
       Plane& out, CpuLevel level)
      : what_(what),
        window_{arguments.data(), what.mask.width},
        body_arguments_(arguments.data() + window_.taps),
        x_(x),
        y_(y),
        out_(out),
        level_(level),
        kernels_(kernels_of(level)),
        memory_(std::make_unique_for_overwrite<float[]>(
            static_cast<std::size_t>(numbers(part_rows, part_columns + 16)))) {}

  void run(std::int64_t left, std::int64_t top) {
    const Size size = out_.size();
    left_ = left;
    n_ = std::min(part_columns, size.width - left);
    made_ = (n_ + max_at_once - 1) / max_at_once * max_at_once;
    stride_ = made_ + 16;
    const std::int64_t height = std::min(part_rows, size.height - top);
    const std::int64_t rows = rows_for(height);
    take(rows);
    const Size read{n_, rows - window_.taps + 1};
    const WindowValues x(what_.mask, what_.border, x_, left, top, read, level_);
    const WindowValues y(what_.mask, what_.border, y_, left, top, read, level_);
    for (std::int64_t j = 0; j < rows; ++j) {
      const float *const x_taps = x.rows(j)[0], *const y_taps = y.rows(j)[0];
      kernels_.rows({x_taps, y_taps, middles(x_taps, x_middle_), middles(y_taps, y_middle_)},
                    window_, rows_.further(j * stride_), made_);
    }
    for (std::int64_t j = 0; j < height; ++j) {
      const std::int64_t middle = what_.run() == 1 ? reach() : j / 4 * 4 + 2 + reach() - j;
      kernels_.columns(rows_.further(j * stride_), stride_, middle, window_, moments_, made_);
      const float* const in[] = {moments_.sum, moments_.apart, moments_.sum_variance,
                                 moments_.apart_variance};
      what_.body->rows_float[static_cast<std::size_t>(level_)](out_.row_as<float>(top + j) + left_,
                                                               in, n_, body_arguments_);
    }
  }

 private:
  std::int64_t rows_for(std::int64_t height) const {
    return (height + 3) / 4 * 4 + window_.taps - 1;
  }
  std::int64_t numbers(std::int64_t height, std::int64_t stride) const {
    return (4 * rows_for(height) + 6) * stride;
  }
  void take(std::int64_t rows) {
    float* next = memory_.get();
    const auto some = [&](std::int64_t n) { return std::exchange(next, next + n); };
    const std::int64_t all = rows * stride_;
    rows_ = {some(all), some(all), some(all), some(all)};
    moments_ = {some(stride_), some(stride_), some(stride_), some(stride_)};
    x_middle_ = some(stride_), y_middle_ = some(stride_);
  }

  std::int64_t reach() const { return what_.mask.origin_x; }
  // The numbers of a row that others are counted from; made: where they are put.
  const float* middles(const float* taps, float* made) const {
    if (what_.run() == 1) return taps + reach();
    for (std::int64_t i = 0; i < made_; ++i) made[i] = taps[reach() + i / 4 * 4 + 2];
    return made;
  }

  const Moments& what_;
  Window window_;
  const float* body_arguments_;
  const Plane &x_, &y_;
  Plane& out_;
  CpuLevel level_;
  MomentKernels kernels_;
  std::int64_t left_ = 0, n_ = 0;  // columns
  std::int64_t made_ = 0;          // numbers of a row
  // From row to row: of 2048 bytes and multiples of these all rows would share places of a cache.
  std::int64_t stride_ = 0;
  std::unique_ptr<float[]> memory_;
  RowMoments rows_, moments_;
  float *x_middle_ = nullptr, *y_middle_ = nullptr;
};

}  // namespace

void run_moments(const Moments& what, std::span<const float> arguments, const Plane& x,
                 const Plane& y, Plane& out, ThreadPool& pool, CpuLevel level) {
  const Size size = out.size();
  const std::int64_t across = (size.width + part_columns - 1) / part_columns;
  const std::int64_t down = (size.height + part_rows - 1) / part_rows;
  Spares<Part> parts;
  pool.for_each(across * down, [&](std::int64_t i) {
    std::unique_ptr<Part> part = parts.take(what, arguments, x, y, out, level);
    part->run(i % across * part_columns, i / across * part_rows);
    parts.give(std::move(part));
  });
}

}  // namespace impipe::cpu
