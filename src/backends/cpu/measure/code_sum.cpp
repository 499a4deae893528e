// Sums of integer codes and of their squares, exact in 64 bits.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/sink.hpp"
#include "core/code_spread.hpp"

namespace impipe::cpu {
namespace {

// The sum of a row of codes; n < 2^16 so that 32 bits are enough for 16-bit codes.
template <class T>
void add_codes(const void* in, std::int64_t n, std::int64_t* total) {
  const T* __restrict a = static_cast<const T*>(in);
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i];
  *total += sum;
}
// The same of the squares too: those of so many bytes fit 32 bits as well.
template <class T>
IMPIPE_INLINE void add_squares_body(const void* in, std::int64_t n, std::int64_t* total,
                                    std::int64_t* squares) {
  using Sum = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  const T* __restrict a = static_cast<const T*>(in);
  std::uint32_t sum = 0;
  Sum of_squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t code = a[i];
    sum += code;
    of_squares += code * code;
  }
  *total += sum;
  *squares += static_cast<std::int64_t>(of_squares);
}
#if IMPIPE_HAS_INTRINSICS
// Sums of eight bytes at once, and of words by two. Rows are read from memory a little ahead of
// their turn, which the processor by itself does only up to the end of a page.
constexpr std::int64_t bytes_ahead = 1024;
constexpr int line = 64;
#define IMPIPE_KERNELS "backends/cpu/measure/code_sum.inc"
#include "backends/cpu/simd/vector_levels.inc"
#endif

IMPIPE_CPU_KERNEL(add_squares,
                  (const void* in, std::int64_t n, std::int64_t* total, std::int64_t* squares),
                  (in, n, total, squares))

constexpr std::int64_t max_codes = 65535;

class CodeSum final : public Sink {
 public:
  CodeSum(const SinkImage& image, std::int64_t tiles, CpuLevel level)
      : image_(image), level_(level), sums_(static_cast<std::size_t>(tiles), 0) {}

  void take(const TileImage* images, const Region& region, std::int64_t tile, int,
            Scratch&) override {
    const TileImage& image = *images;
#if IMPIPE_HAS_INTRINSICS
    if (level_ != CpuLevel::baseline) {
      sums_[tile] +=
          bytes_of(image_.cls) == 1 ? sum_bytes(image, region) : sum_words(image, region);
      return;
    }
#endif
    const auto add =
        image_.cls == PixelClass::uint16 ? add_codes<std::uint16_t> : add_codes<std::uint8_t>;
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      const std::byte* row = image.at(region.x0, y);
      for (std::int64_t i = 0; i < region.width(); i += max_codes) {
        add(row + i * bytes_of(image_.cls), std::min(max_codes, region.width() - i), &sums_[tile]);
      }
    }
  }

  std::vector<double> finish() override {
    return {static_cast<double>(std::accumulate(sums_.begin(), sums_.end(), std::int64_t{0}))};
  }

 private:
#if IMPIPE_HAS_INTRINSICS
  // Rows without a gap between them are one.
  std::int64_t sum_bytes(const TileImage& image, const Region& region) const {
    const bool together = image.stride == region.width();
    const std::int64_t rows = together ? 1 : region.height();
    const std::int64_t n = region.pixels() / rows;
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < rows; ++k) {
      const auto* row = reinterpret_cast<const std::uint8_t*>(image.at(region.x0, region.y0 + k));
      sum += (level_ == CpuLevel::v4 ? v4::sum_bytes : v3::sum_bytes)(row, n);
    }
    return sum;
  }
  std::int64_t sum_words(const TileImage& image, const Region& region) const {
    const Region rows = as_rows(region, image.gapless(region));
    std::int64_t sum = 0;
    for (std::int64_t y = rows.y0; y < rows.y1; ++y) {
      const auto* row = reinterpret_cast<const std::uint16_t*>(image.at(rows.x0, y));
      for (std::int64_t i = 0; i < rows.width(); i += max_codes) {
        const std::int64_t n = std::min(max_codes, rows.width() - i);
        sum += (level_ == CpuLevel::v4 ? v4::sum_words : v3::sum_words)(row + i, n);
      }
    }
    return sum;
  }
#endif

  SinkImage image_;
  CpuLevel level_;
  std::vector<std::int64_t> sums_;  // [tiles]
};

class CodeSpread final : public Sink {
 public:
  CodeSpread(const SinkImage& image, std::int64_t tiles, CpuLevel level)
      : image_(image), add_(adder(image.cls, level)), sums_(static_cast<std::size_t>(tiles)) {}

  void take(const TileImage* images, const Region& region, std::int64_t tile, int,
            Scratch&) override {
    const TileImage& image = *images;
    Sums& to = sums_[tile];
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      const std::byte* row = image.at(region.x0, y);
      for (std::int64_t i = 0; i < region.width(); i += max_codes) {
        add_(row + i * bytes_of(image_.cls), std::min(max_codes, region.width() - i), &to.codes,
             &to.squares);
      }
    }
  }

  std::vector<double> finish() override {
    Sums all;
    for (const Sums& of_tile : sums_) {
      all.codes += of_tile.codes;
      all.squares += of_tile.squares;
    }
    return {spread_of_sums(all.codes, all.squares, image_.size.pixels())};
  }

 private:
  struct Sums {
    std::int64_t codes = 0, squares = 0;
  };
  using Add = void (*)(const void*, std::int64_t, std::int64_t*, std::int64_t*);
  static Add adder(PixelClass cls, CpuLevel level) {
    const int at = static_cast<int>(level);
    if (cls == PixelClass::uint16) return add_squares<std::uint16_t>[at];
    return IMPIPE_VECTORS_OR(level, add_squares<std::uint8_t>[at], add_byte_squares);
  }

  SinkImage image_;
  Add add_;
  std::vector<Sums> sums_;  // [tiles]
};

}  // namespace

std::unique_ptr<Sink> make_code_sum(const SinkImage& image, std::int64_t tiles, CpuLevel level) {
  return std::make_unique<CodeSum>(image, tiles, level);
}
std::unique_ptr<Sink> make_code_spread(const SinkImage& image, std::int64_t tiles, CpuLevel level) {
  return std::make_unique<CodeSpread>(image, tiles, level);
}

}  // namespace impipe::cpu
