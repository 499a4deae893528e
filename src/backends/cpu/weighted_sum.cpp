// Weighted sums over taps: blocks of results that stay in registers while the taps go by. Four rows
// at a time, because a loaded vector then serves four results and loads no longer are the limit.
#include "backends/cpu/weighted_sum.hpp"

#include "backends/cpu/intrinsics.hpp"

namespace impipe::cpu {
namespace {

namespace baseline {
#define LEVEL_TARGET
#define Vec float
#define WIDTH 1
#define VECTORS 2
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define SET(x) (x)
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define ADD(a, b) ((a) + (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define KEEP(v) static_cast<void>(v)
#include "backends/cpu/weighted_rows.inc"
}  // namespace baseline

#if IMPIPE_HAS_INTRINSICS
namespace v3 {
#define LEVEL_TARGET IMPIPE_TARGET_v3
#define Vec __m256
#define WIDTH 8
#define VECTORS 2
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define ADD(a, b) _mm256_add_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define MIN(a, b) _mm256_min_ps(a, b)
#define KEEP(v) __asm__("" : "+x"(v))
#include "backends/cpu/weighted_rows.inc"
}  // namespace v3

namespace v4 {
#define LEVEL_TARGET IMPIPE_TARGET_v4
#define Vec __m512
#define WIDTH 16
#define VECTORS 4
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define ADD(a, b) _mm512_add_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define MIN(a, b) _mm512_min_ps(a, b)
#define KEEP(v) __asm__("" : "+v"(v))
#include "backends/cpu/weighted_rows.inc"
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

}  // namespace

void sparse_sum(float* out, const float* const* taps, const float* weights, int count,
                std::int64_t n, CpuLevel level) {
  constexpr decltype(&baseline::sparse_row) rows[] = {baseline::sparse_row, v3::sparse_row,
                                                      v4::sparse_row};
  rows[static_cast<int>(level)](out, taps, weights, count, n);
}

void sparse_extremum(float* out, const float* const* taps, const float* heights, int count,
                     bool largest, std::int64_t n, CpuLevel level) {
  using Row = decltype(&baseline::extreme_row<true>);
  constexpr Row rows[][cpu_levels] = {
      {baseline::extreme_row<false>, v3::extreme_row<false>, v4::extreme_row<false>},
      {baseline::extreme_row<true>, v3::extreme_row<true>, v4::extreme_row<true>}};
  rows[largest][static_cast<int>(level)](out, taps, heights, count, n);
}

void dense_sum(float* const* out, int rows, const float* const* in, const float* weights, int width,
               int height, std::int64_t n, CpuLevel level) {
  using Dense = decltype(&baseline::dense_one);
  constexpr Dense one[] = {baseline::dense_one, v3::dense_one, v4::dense_one};
  constexpr Dense four[] = {baseline::dense_four, v3::dense_four, v4::dense_four};
  (rows == dense_rows ? four : one)[static_cast<int>(level)](out, in, weights, width, height, n);
}

}  // namespace impipe::cpu
