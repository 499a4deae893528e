// Sums of integer codes and of their squares, exact in 64 bits.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/sink.hpp"
#include "core/code_spread.hpp"

namespace impipe::cpu {
namespace {

// The sum of a row of codes; n < 2^16 so that 32 bits are enough for 16-bit codes.
template <class T>
IMPIPE_INLINE void add_codes_body(const void* in, std::int64_t n, std::int64_t* total) {
  const T* __restrict a = static_cast<const T*>(in);
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i];
  *total += sum;
}
#if IMPIPE_HAS_INTRINSICS
// Sums of eight bytes at once. Rows are read from memory a little ahead of their turn, which the
// processor by itself does only up to the end of a page.
constexpr std::int64_t bytes_ahead = 1024;

IMPIPE_TARGET_v4 std::int64_t sum_bytes_v4(const std::uint8_t* in, std::int64_t n) {
  const __m512i zero = _mm512_setzero_si512();
  __m512i sums[4] = {zero, zero, zero, zero};
  std::int64_t i = 0;
  for (; i + 256 <= n; i += 256) {
    for (int k = 0; k < 4; ++k) {
      const std::uint8_t* from = in + i + 64 * k;
      _mm_prefetch(reinterpret_cast<const char*>(from + bytes_ahead), _MM_HINT_T0);
      sums[k] = _mm512_add_epi64(sums[k], _mm512_sad_epu8(_mm512_loadu_si512(from), zero));
    }
  }
  std::int64_t sum = _mm512_reduce_add_epi64(
      _mm512_add_epi64(_mm512_add_epi64(sums[0], sums[1]), _mm512_add_epi64(sums[2], sums[3])));
  for (; i < n; ++i) sum += in[i];
  return sum;
}
IMPIPE_TARGET_v3 std::int64_t sum_bytes_v3(const std::uint8_t* in, std::int64_t n) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sums[4] = {zero, zero, zero, zero};
  std::int64_t i = 0;
  for (; i + 128 <= n; i += 128) {
    for (int k = 0; k < 4; ++k) {
      const std::uint8_t* from = in + i + 32 * k;
      if (k % 2 == 0) {
        _mm_prefetch(reinterpret_cast<const char*>(from + bytes_ahead), _MM_HINT_T0);
      }
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
      sums[k] = _mm256_add_epi64(sums[k], _mm256_sad_epu8(bytes, zero));
    }
  }
  const __m256i all =
      _mm256_add_epi64(_mm256_add_epi64(sums[0], sums[1]), _mm256_add_epi64(sums[2], sums[3]));
  std::int64_t sum = _mm256_extract_epi64(all, 0) + _mm256_extract_epi64(all, 1) +
                     _mm256_extract_epi64(all, 2) + _mm256_extract_epi64(all, 3);
  for (; i < n; ++i) sum += in[i];
  return sum;
}
#endif

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
IMPIPE_CPU_KERNEL(add_squares,
                  (const void* in, std::int64_t n, std::int64_t* total, std::int64_t* squares),
                  (in, n, total, squares))

IMPIPE_CPU_KERNEL(add_codes, (const void* in, std::int64_t n, std::int64_t* total), (in, n, total))
constexpr std::int64_t add_codes_most = 65535;

class CodeSum final : public Sink {
 public:
  CodeSum(const SinkImage& image, std::int64_t tiles, CpuLevel level)
      : image_(image), level_(level), sums_(static_cast<std::size_t>(tiles), 0) {}

  void take(const TileImage* images, const Region& region, std::int64_t tile, int,
            Scratch&) override {
    const TileImage& image = *images;
#if IMPIPE_HAS_INTRINSICS
    if (bytes_of(image_.cls) == 1 && level_ != CpuLevel::baseline) {
      sums_[tile] += sum_bytes(image, region);
      return;
    }
#endif
    const auto add =
        (image_.cls == PixelClass::uint16 ? add_codes<std::uint16_t>
                                          : add_codes<std::uint8_t>)[static_cast<int>(level_)];
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      const std::byte* row = image.at(region.x0, y);
      for (std::int64_t i = 0; i < region.width(); i += add_codes_most) {
        add(row + i * bytes_of(image_.cls), std::min(add_codes_most, region.width() - i),
            &sums_[tile]);
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
      sum += level_ == CpuLevel::v4 ? sum_bytes_v4(row, n) : sum_bytes_v3(row, n);
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
      : image_(image),
        add_((image.cls == PixelClass::uint16
                  ? add_squares<std::uint16_t>
                  : add_squares<std::uint8_t>)[static_cast<int>(level)]),
        sums_(static_cast<std::size_t>(tiles)) {}

  void take(const TileImage* images, const Region& region, std::int64_t tile, int,
            Scratch&) override {
    const TileImage& image = *images;
    Sums& to = sums_[tile];
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      const std::byte* row = image.at(region.x0, y);
      for (std::int64_t i = 0; i < region.width(); i += add_codes_most) {
        add_(row + i * bytes_of(image_.cls), std::min(add_codes_most, region.width() - i),
             &to.codes, &to.squares);
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
  SinkImage image_;
  void (*add_)(const void*, std::int64_t, std::int64_t*, std::int64_t*);
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
