// Sums of very many weights by Fourier transforms of tiles, two at a time.
#include "backends/cpu/transform/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/spares.hpp"
#include "backends/cpu/tile/weighted_sum.hpp"
#include "core/body.hpp"
#include "core/fourier_tiles.hpp"
#include "core/region.hpp"

namespace impipe::cpu {
namespace {

constexpr int fourier_lines = 16;

#define IMPIPE_KERNELS "backends/cpu/transform/fourier_lines.inc"
#include "backends/cpu/simd/each_level.inc"

// The transform of `side` numbers of each line, core/fourier_tiles.hpp's: number k of line i at
// k * fourier_lines + i, re and im apart; other_re, other_im: as many, that it may use. Returns
// whether the result lies in those. With re and im taken for each other it is the inverse, but for
// a factor.
bool fourier_transform(int side, const float* factors, float* re, float* im, float* other_re,
                       float* other_im, CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, transform)(side, factors, re, im, other_re, other_im);
}

// Each of n numbers times that of the spectrum.
void fourier_product(float* re, float* im, const float* spectrum_re, const float* spectrum_im,
                     int n, CpuLevel level) {
  IMPIPE_AT_LEVEL(level, product)(re, im, spectrum_re, spectrum_im, n);
}

// Lines that a thread takes at a time.
constexpr int lines_at_once = 4 * fourier_lines;

using Numbers = std::unique_ptr<float[]>;
Numbers numbers(std::int64_t n) {
  return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
}

float pixel(const std::byte* row, PixelClass cls, std::int64_t x) {
  switch (cls) {
    case PixelClass::single: return reinterpret_cast<const float*>(row)[x];
    case PixelClass::uint16: return reinterpret_cast<const std::uint16_t*>(row)[x];
    default: return static_cast<float>(std::to_integer<int>(row[x]));
  }
}

// to: [16][16] of floats, of which rows are to_stride apart; the transposition of `from`.
void transpose(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  typedef float Four __attribute__((vector_size(16)));
  for (int y = 0; y < fourier_lines; y += 4) {
    for (int x = 0; x < fourier_lines; x += 4) {
      Four v[4];
      for (int k = 0; k < 4; ++k) std::memcpy(&v[k], from + (y + k) * from_stride + x, sizeof v[k]);
      const Four low = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
      const Four high = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
      const Four low_2 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
      const Four high_2 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
      v[0] = __builtin_shufflevector(low, low_2, 0, 1, 4, 5);
      v[1] = __builtin_shufflevector(low, low_2, 2, 3, 6, 7);
      v[2] = __builtin_shufflevector(high, high_2, 0, 1, 4, 5);
      v[3] = __builtin_shufflevector(high, high_2, 2, 3, 6, 7);
      for (int k = 0; k < 4; ++k) std::memcpy(to + (x + k) * to_stride + y, &v[k], sizeof v[k]);
    }
  }
}

// Sixteen lines side by side, and as much again for what a transform becomes.
class Lines {
 public:
  Lines(int side, CpuLevel level)
      : side_(side), level_(level), memory_(numbers(4 * size())), factors_(fourier_factors(side)) {}
  std::int64_t size() const { return std::int64_t{side_} * fourier_lines; }
  float* re() { return memory_.get() + (elsewhere_ ? 2 * size() : 0); }
  float* im() { return re() + size(); }

  void forward() { transform(re(), im(), 0); }
  void back() { transform(im(), re(), size()); }
  void multiply(const float* spectrum) {
    fourier_product(re(), im(), spectrum, spectrum + size(), static_cast<int>(size()), level_);
  }

 private:
  // swapped: what lies between the first array and where its result may go, which the arrays of
  // the other part have the other way round.
  void transform(float* first, float* second, std::int64_t swapped) {
    float* const other = memory_.get() + (elsewhere_ ? 0 : 2 * size());
    if (fourier_transform(side_, factors_.data(), first, second, other + swapped,
                          other + size() - swapped, level_)) {
      elsewhere_ = !elsewhere_;
    }
  }

  int side_;
  CpuLevel level_;
  Numbers memory_;
  std::span<const float> factors_;
  bool elsewhere_ = false;  // the numbers lie in the second half
};

// Two tiles, rows of `side` numbers and some more: multiples of 2048 bytes would share a few places
// of the caches.
class Pair {
 public:
  Pair(int side, CpuLevel level)
      : side_(side),
        level_(level),
        stride_(side + fourier_lines),
        memory_(numbers(2 * stride_ * side)) {}
  float* row(int half, std::int64_t y) { return memory_.get() + (half * side_ + y) * stride_; }
  const float* row(int half, std::int64_t y) const {
    return memory_.get() + (half * side_ + y) * stride_;
  }

  // The transform of all columns; its inverse of the first so many.
  void columns(ThreadPool& pool) { columns(false, side_, pool); }
  void columns_back(std::int64_t count, ThreadPool& pool) { columns(true, count, pool); }

  // Of all rows, sixteen after sixteen: re and im, numbers of sixteen rows side by side.
  std::vector<float> spectrum(ThreadPool& pool) const {
    std::vector<float> out(2 * static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_));
    each(side_, pool, [&](Lines& lines, int first) {
      take_rows(lines, first);
      lines.forward();
      float* to = out.data() + 2 * first * std::int64_t{side_};
      std::copy_n(lines.re(), lines.size(), to);
      std::copy_n(lines.im(), lines.size(), to + lines.size());
    });
    return out;
  }

  // Rows times the spectrum.
  void filter_rows(const std::vector<float>& spectrum, ThreadPool& pool) {
    each(side_, pool, [&](Lines& lines, int first) {
      take_rows(lines, first);
      lines.forward();
      lines.multiply(spectrum.data() + 2 * first * std::int64_t{side_});
      lines.back();
      for (int x = 0; x < side_; x += fourier_lines) {
        transpose(lines.re() + x * fourier_lines, fourier_lines, row(0, first) + x, stride_);
        transpose(lines.im() + x * fourier_lines, fourier_lines, row(1, first) + x, stride_);
      }
    });
  }

 private:
  static constexpr std::size_t line_bytes = fourier_lines * sizeof(float);

  void columns(bool back, std::int64_t count, ThreadPool& pool) {
    each(count, pool, [&](Lines& lines, int first) {
      for (std::int64_t y = 0; y < side_; ++y) {
        std::memcpy(lines.re() + y * fourier_lines, row(0, y) + first, line_bytes);
        std::memcpy(lines.im() + y * fourier_lines, row(1, y) + first, line_bytes);
      }
      back ? lines.back() : lines.forward();
      for (std::int64_t y = 0; y < side_; ++y) {
        std::memcpy(row(0, y) + first, lines.re() + y * fourier_lines, line_bytes);
        std::memcpy(row(1, y) + first, lines.im() + y * fourier_lines, line_bytes);
      }
    });
  }

  // The first so many lines, and up to fifteen more.
  template <class Body>
  void each(std::int64_t count, ThreadPool& pool, const Body& body) const {
    pool.for_each((count + lines_at_once - 1) / lines_at_once, [&](std::int64_t part) {
      const int first = static_cast<int>(part) * lines_at_once;
      Lines lines(side_, level_);
      for (int i = 0; i < lines_at_once && first + i < count; i += fourier_lines) {
        body(lines, first + i);
      }
    });
  }

  void take_rows(Lines& lines, int first) const {
    for (int x = 0; x < side_; x += fourier_lines) {
      transpose(row(0, first) + x, stride_, lines.re() + x * fourier_lines, fourier_lines);
      transpose(row(1, first) + x, stride_, lines.im() + x * fourier_lines, fourier_lines);
    }
  }

  int side_;
  CpuLevel level_;
  std::int64_t stride_;
  Numbers memory_;
};

class FourierSums {
 public:
  FourierSums(const Stencil& what, std::span<const float> arguments, const Plane& in, Plane& out,
              ThreadPool& pool, CpuLevel level)
      : what_(what),
        weights_(arguments),
        outside_(what.border == Border::constant ? arguments.back() : 0.0f),
        in_(in),
        out_(out),
        pool_(pool),
        level_(level),
        tiles_(fourier_tiles(what, out.size())) {}

  void run() {
    const std::vector<float> spectrum = weights_spectrum();
    Spares<Pair> all;
    pool_.for_each(tiles_.pairs(), [&](std::int64_t pair) {
      std::unique_ptr<Pair> taken = all.take(what_.fourier_side, level_);
      Pair& tiles = *taken;
      const bool fits = fill(tiles, 2 * pair, 0) & fill(tiles, 2 * pair + 1, 1);
      if (fits) {
        tiles.columns(pool_);
        tiles.filter_rows(spectrum, pool_);
        tiles.columns_back(std::min(tiles_.width, out_.size().width), pool_);
      }
      for (int half = 0; half < 2; ++half) {
        const Region region = made(2 * pair + half);
        if (fits) {
          store(tiles, half, region);
        } else {
          sum(region);
        }
      }
      all.give(std::move(taken));
    });
  }

 private:
  std::int64_t column_of(std::int64_t tile) const { return tile % tiles_.across * tiles_.width; }
  std::int64_t row_of(std::int64_t tile) const { return tile / tiles_.across * tiles_.height; }

  // The pixels that a tile makes.
  Region made(std::int64_t tile) const {
    if (tile >= tiles_.count) return {};
    const std::int64_t x = column_of(tile), y = row_of(tile);
    return {x, y, std::min(x + tiles_.width, out_.size().width),
            std::min(y + tiles_.height, out_.size().height)};
  }

  // Turned around the corner of a tile.
  std::vector<float> weights_spectrum() const {
    Pair tile(what_.fourier_side, level_);
    const std::int64_t side = what_.fourier_side;
    for (std::int64_t y = 0; y < 2 * side; ++y) std::fill_n(tile.row(0, y), side, 0.0f);
    const float scale = 1.0f / (static_cast<float>(side) * static_cast<float>(side));
    for (std::int64_t row = 0; row < what_.taps.height; ++row) {
      for (std::int64_t column = 0; column < what_.taps.width; ++column) {
        const std::int64_t x = (side - column) % side, y = (side - row) % side;
        tile.row(0, y)[x] = weights_[row * what_.taps.width + column] * scale;
      }
    }
    tile.columns(pool_);
    return tile.spectrum(pool_);
  }

  // One row of the image with its surroundings, from column `left` on.
  void read_row(float* to, std::int64_t left, std::int64_t y) const {
    const std::int64_t side = what_.fourier_side, width = in_.size().width;
    const std::int64_t row = map_outside(y, in_.size().height, what_.border);
    if (row < 0) {
      std::fill_n(to, side, outside_);
      return;
    }
    const std::int64_t from = std::clamp<std::int64_t>(-left, 0, side);
    const std::int64_t end = std::clamp<std::int64_t>(width - left, from, side);
    const auto beside = [&](std::int64_t x) {
      const std::int64_t place = map_outside(left + x, width, what_.border);
      to[x] = place < 0 ? outside_ : pixel(in_.row(row), in_.cls(), place);
    };
    for (std::int64_t x = 0; x < from; ++x) beside(x);
    if (end > from) {
      load_row(to + from, in_.row(row) + (left + from) * bytes_of(in_.cls()), in_.cls(), end - from,
               level_);
    }
    for (std::int64_t x = end; x < side; ++x) beside(x);
  }

  // Whether all of the tile's pixels are such as transforms take.
  bool fill(Pair& tiles, std::int64_t tile, int half) const {
    const std::int64_t side = what_.fourier_side;
    if (tile >= tiles_.count) {
      for (std::int64_t y = 0; y < side; ++y) std::fill_n(tiles.row(half, y), side, 0.0f);
      return true;
    }
    const std::int64_t left = column_of(tile) + what_.shift_x - what_.taps.origin_x;
    const std::int64_t top = row_of(tile) + what_.shift_y - what_.taps.origin_y;
    bool fits = true;
    for (std::int64_t y = 0; y < side; ++y) {
      float* const row = tiles.row(half, y);
      read_row(row, left, top + y);
      if (in_.cls() != PixelClass::single) continue;
      int fit = 1;
      for (std::int64_t x = 0; x < side; ++x) fit &= std::fabs(row[x]) <= largest_in_fourier;
      fits &= fit != 0;
    }
    return fits;
  }

  void store(const Pair& tiles, int half, const Region& region) {
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      store_row(out_.row(y) + region.x0 * bytes_of(out_.cls()), tiles.row(half, y - region.y0),
                out_.cls(), region.width(), level_);
    }
  }

  // Weight by weight.
  void sum(const Region& region) {
    constexpr std::int64_t rows_at_once = 32;
    pool_.for_each((region.height() + rows_at_once - 1) / rows_at_once, [&](std::int64_t part) {
      const std::int64_t first = region.y0 + part * rows_at_once;
      sum_rows(region, first, std::min(first + rows_at_once, region.y1));
    });
  }

  void sum_rows(const Region& region, std::int64_t first, std::int64_t end) {
    const std::int64_t side = what_.fourier_side, height = end - first + what_.taps.height - 1;
    const Numbers pixels = numbers(height * side), sums = numbers(region.width());
    for (std::int64_t j = 0; j < height; ++j) {
      read_row(pixels.get() + j * side, region.x0 + what_.shift_x - what_.taps.origin_x,
               first + j + what_.shift_y - what_.taps.origin_y);
    }
    std::vector<float> set;  // weights that are not 0
    std::vector<const float*> taps;
    for (std::int64_t k = 0; k < std::int64_t{what_.taps.height} * what_.taps.width; ++k) {
      if (weights_[static_cast<std::size_t>(k)] == 0) continue;
      set.push_back(weights_[static_cast<std::size_t>(k)]);
      taps.push_back(pixels.get() + k / what_.taps.width * side + k % what_.taps.width);
    }
    for (std::int64_t y = first; y < end; ++y) {
      sparse_sum(sums.get(), taps.data(), set.data(), static_cast<int>(set.size()), region.width(),
                 level_);
      store_row(out_.row(y) + region.x0 * bytes_of(out_.cls()), sums.get(), out_.cls(),
                region.width(), level_);
      for (const float*& tap : taps) tap += side;
    }
  }

  const Stencil& what_;
  std::span<const float> weights_;  // and what the border's value is
  float outside_;
  const Plane& in_;
  Plane& out_;
  ThreadPool& pool_;
  CpuLevel level_;
  FourierTiles tiles_;
};

}  // namespace

void run_fourier(const Stencil& what, std::span<const float> arguments, const Plane& in, Plane& out,
                 ThreadPool& pool, CpuLevel level) {
  FourierSums(what, arguments, in, out, pool, level).run();
}

}  // namespace impipe::cpu
