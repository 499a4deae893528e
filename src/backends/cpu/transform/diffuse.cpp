// Error diffusion: bands of rows, each a slanted front of vectors, follow one another closely on
// several threads.
#include "backends/cpu/transform/diffuse.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "backends/cpu/simd/vectors.hpp"
#include "core/image.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

constexpr int diffuse_band = 16;  // rows of a front
// Steps after the first until the last row starts.
constexpr std::int64_t diffuse_lag = 2 * (diffuse_band - 1);

// The errors that the next steps need, one a row.
struct alignas(64) DiffuseState {
  double here[diffuse_band] = {};       // of the pixel to the left
  double over[diffuse_band] = {};       // over it
  double over_left[diffuse_band] = {};  // over that one's left neighbour
};

// Steps from .. to - 1 of a front. values: [to - from][diffuse_band], the pixels / white, which get
// the errors of their neighbours added. above_right: [to - from], the errors of the row over the
// band, in the column to the right of the first row's.
struct DiffuseSteps {
  std::int64_t from = 0, to = 0, width = 0;
  const double* above_right = nullptr;
  double* values = nullptr;
};
using RunDiffuseSteps = void (*)(const DiffuseSteps& steps, DiffuseState& state);

// n pixels / white.
using ScalePixels = void (*)(const std::byte* in, double white, std::int64_t n, double* out);

#define IMPIPE_KERNELS "backends/cpu/transform/diffuse_steps.inc"
#include "backends/cpu/simd/each_level.inc"

RunDiffuseSteps run_diffuse_steps(CpuLevel level) { return IMPIPE_AT_LEVEL(level, run_steps); }

// logical and uint8 are read alike.
ScalePixels scale_pixels(PixelClass cls, CpuLevel level) {
  return with_pixel(cls,
                    [&](auto pixel) { return IMPIPE_AT_LEVEL(level, scale<decltype(pixel)>); });
}

constexpr std::int64_t segment = 256;  // steps between two looks at the band above

class DiffuseRun {
 public:
  DiffuseRun(const Plane& in, double white, Plane& out, CpuLevel level)
      : in_(in),
        white_(white),
        out_(out),
        width_(in.size().width),
        height_(in.size().height),
        bands_((height_ + diffuse_band - 1) / diffuse_band),
        scale_(scale_pixels(in.cls(), level)),
        steps_(run_diffuse_steps(level)),
        done_(static_cast<std::size_t>(bands_)) {
    // Read beyond the last column by the last steps.
    for (std::vector<double>& row : bottom_) row.resize(width_ + diffuse_lag + segment + 1);
  }

  void run(ThreadPool& pool) {
    // Bands are begun in their order, so the one above is always under way.
    pool.for_each(bands_, [&](std::int64_t) { run_band(next_.fetch_add(1)); });
  }

 private:
  void run_band(std::int64_t b) {
    const std::int64_t y0 = b * diffuse_band;
    const int rows = static_cast<int>(std::min<std::int64_t>(diffuse_band, height_ - y0));
    const std::vector<double>& above = bottom_[(b + 1) % 2];
    std::vector<double>& bottom = bottom_[b % 2];
    DiffuseState state;
    // On the stack: a band that could not go on would keep the others waiting.
    alignas(64) double values[segment * diffuse_band] = {};
    const std::int64_t steps = width_ + diffuse_lag;
    for (std::int64_t from = 0; from < steps; from += segment) {
      const std::int64_t to = std::min(from + segment, steps);
      for (int r = 0; r < rows; ++r) read_row(y0 + r, r, from, to, values);
      if (b > 0) wait_for(b - 1, std::min(to + 1, width_));
      if (from == 0) state.over[0] = above[0];
      steps_({from, to, width_, above.data() + from + 1, values}, state);
      for (int r = 0; r < rows; ++r) write_row(y0 + r, r, from, to, values);
      // Of the last row the columns that are done now, for the next band.
      const std::int64_t end = std::clamp<std::int64_t>(to - diffuse_lag, 0, width_);
      for (std::int64_t x = std::max<std::int64_t>(from - diffuse_lag, 0); x < end; ++x) {
        const double w = values[(x + diffuse_lag - from) * diffuse_band + diffuse_band - 1];
        bottom[x] = w - (w >= 0.5 ? 1.0 : 0.0);
      }
      done_[b].store(end, std::memory_order_release);
    }
  }

  void wait_for(std::int64_t band, std::int64_t columns) const {
    while (done_[band].load(std::memory_order_acquire) < columns) std::this_thread::yield();
  }

  // The columns of a row that the steps pass.
  struct Columns {
    std::int64_t first, end;
  };
  Columns columns_of(int r, std::int64_t from, std::int64_t to) const {
    const std::int64_t first = std::max<std::int64_t>(from - 2 * r, 0);
    return {first, std::max(first, std::min(to - 2 * r, width_))};
  }

  void read_row(std::int64_t y, int r, std::int64_t from, std::int64_t to, double* values) const {
    const Columns columns = columns_of(r, from, to);
    double scaled[segment];
    scale_(in_.row(y) + columns.first * bytes_of(in_.cls()), white_, columns.end - columns.first,
           scaled);
    double* place = values + (columns.first + 2 * r - from) * diffuse_band + r;
    for (std::int64_t x = columns.first; x < columns.end; ++x, place += diffuse_band) {
      *place = scaled[x - columns.first];
    }
  }

  void write_row(std::int64_t y, int r, std::int64_t from, std::int64_t to, const double* values) {
    const Columns columns = columns_of(r, from, to);
    std::uint8_t* out = out_.row_as<std::uint8_t>(y);
    const double* place = values + (columns.first + 2 * r - from) * diffuse_band + r;
    for (std::int64_t x = columns.first; x < columns.end; ++x, place += diffuse_band) {
      out[x] = *place >= 0.5;
    }
  }

  const Plane& in_;
  double white_;
  Plane& out_;
  std::int64_t width_, height_, bands_;
  ScalePixels scale_;
  RunDiffuseSteps steps_;
  std::atomic<std::int64_t> next_ = 0;
  // Of each band the columns of its last row that are done.
  std::vector<std::atomic<std::int64_t>> done_;
  // The errors of the last rows of even and odd bands. A band overwrites those of the band before
  // the last only where the one between has read them: it waits for that one's results.
  std::vector<double> bottom_[2];
};

}  // namespace

void run_diffuse(const Plane& in, double white, Plane& out, ThreadPool& pool, CpuLevel level) {
  DiffuseRun(in, white, out, level).run(pool);
}

}  // namespace impipe::cpu
