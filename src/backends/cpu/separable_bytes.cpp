// Separable sums of gray bytes to bytes. A vector holds every fourth pixel of 64, four vectors make
// a block: a pixel's neighbour is in the same place of the next vector, so that the row pass moves
// no values along, and the codes of four vectors are put together by shifts.
#include "backends/cpu/separable_bytes.hpp"

#include "backends/cpu/intrinsics.hpp"
#include "backends/cpu/neighbourhood.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr std::int64_t block = 64;
constexpr std::int64_t vector = 16;
constexpr int phases = 4;
constexpr int most_taps = 32;

// Pixels p, p + 4, p + 8 ... p + 60.
template <int p>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) __m512 every_fourth(const std::uint8_t* in) {
  constexpr int byte = static_cast<int>(0x80808000u) + p % phases;  // 0x80: a byte of zero
  const __m512i order = _mm512_set4_epi32(byte + 12, byte + 8, byte + 4, byte);
  const __m512i codes = _mm512_loadu_si512(in + p / phases * phases);
  return _mm512_cvtepi32_ps(_mm512_shuffle_epi8(codes, order));
}

// The taps from number `tap` on; a, b, c: pixels tap, tap + 1 and tap + 2 and every fourth after.
template <int tap>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) void add_taps(
    __m512 (&sum)[phases], __m512 a, __m512 b, __m512 c, const std::uint8_t* in,
    const float* weights, int taps) {
  if constexpr (tap < most_taps) {
    if (tap >= taps) return;
    const __m512 w = _mm512_set1_ps(weights[tap]);
    const __m512 d = every_fourth<tap + 3>(in);
    sum[0] = _mm512_fmadd_ps(w, a, sum[0]);
    sum[1] = _mm512_fmadd_ps(w, b, sum[1]);
    sum[2] = _mm512_fmadd_ps(w, c, sum[2]);
    sum[3] = _mm512_fmadd_ps(w, d, sum[3]);
    add_taps<tap + 1>(sum, b, c, d, in, weights, taps);
  }
}

// The last block overlaps the one before it: its pixels are computed twice.
inline std::int64_t block_at(std::int64_t i, std::int64_t n) { return std::min(i, n - block); }

IMPIPE_TARGET_v4 void row_pass(float* out, const std::uint8_t* in, const float* weights, int taps,
                               std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += block, out += block) {
    const std::uint8_t* from = in + block_at(i, n);
    __m512 sum[phases];
    for (__m512& s : sum) s = _mm512_setzero_ps();
    add_taps<0>(sum, every_fourth<0>(from), every_fourth<1>(from), every_fourth<2>(from), from,
                weights, taps);
    for (int k = 0; k < phases; ++k) _mm512_storeu_ps(out + k * vector, sum[k]);
  }
}

// As store_row rounds: half away from zero, saturated, NaN is 0.
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) __m512i codes_of_sum(__m512 sum) {
  const __m512 bounded = _mm512_max_ps(sum, _mm512_setzero_ps());
  const __m512 below_half = _mm512_set1_ps(0x1.fffffep-2f);
  // Numbers beyond 2^31 become 0x80000000, which saturates like every large one.
  return _mm512_min_epu32(_mm512_cvttps_epi32(_mm512_add_ps(bounded, below_half)),
                          _mm512_set1_epi32(255));
}

// What input row r gives to the output rows first to last - 1.
template <int first, int last, int rows>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) void add_row(__m512 (&sum)[rows][phases],
                                                                    const float* in,
                                                                    const float* weights, int r) {
  __m512 v[phases];
  for (int k = 0; k < phases; ++k) v[k] = _mm512_loadu_ps(in + k * vector);
  for (int o = first; o < last; ++o) {
    const __m512 w = _mm512_set1_ps(weights[r - o]);
    for (int k = 0; k < phases; ++k) sum[o][k] = _mm512_fmadd_ps(w, v[k], sum[o][k]);
  }
}

// Four rows need a column of at least three taps.
template <int rows>
IMPIPE_TARGET_v4 void column_pass(std::byte* const* out, const float* const* in,
                                  const float* weights, int taps, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += block) {
    __m512 sum[rows][phases];
    for (auto& row : sum) {
      for (__m512& s : row) s = _mm512_setzero_ps();
    }
    if constexpr (rows == 1) {
      for (int r = 0; r < taps; ++r) add_row<0, 1>(sum, in[r] + i, weights, r);
    } else {
      add_row<0, 1>(sum, in[0] + i, weights, 0);
      add_row<0, 2>(sum, in[1] + i, weights, 1);
      add_row<0, 3>(sum, in[2] + i, weights, 2);
      for (int r = 3; r < taps; ++r) add_row<0, 4>(sum, in[r] + i, weights, r);
      add_row<1, 4>(sum, in[taps] + i, weights, taps);
      add_row<2, 4>(sum, in[taps + 1] + i, weights, taps + 1);
      add_row<3, 4>(sum, in[taps + 2] + i, weights, taps + 2);
    }
    for (int o = 0; o < rows; ++o) {
      const __m512i low = _mm512_or_si512(codes_of_sum(sum[o][0]),
                                          _mm512_slli_epi32(codes_of_sum(sum[o][1]), 8));
      const __m512i high =
          _mm512_or_si512(_mm512_slli_epi32(codes_of_sum(sum[o][2]), 16),
                          _mm512_slli_epi32(codes_of_sum(sum[o][3]), 24));
      _mm512_storeu_si512(out[o] + block_at(i, n), _mm512_or_si512(low, high));
    }
  }
}

void run_strip(const Separable& separable, const Arguments& arguments, const TileImage& in,
               const Reach& reach, const Region& region, TileOut out, Scratch& scratch,
               CpuLevel level) {
  const ScratchScope scope(scratch);
  const std::int64_t n = region.width();
  const int taps = separable.row.width, column_taps = separable.column.height;
  const float* weights = arguments.float_of(0).data();
  const Outside outside{separable.border, arguments.last()};
  const Region wanted = reach.under(region);
  const Region read = inside({0, wanted.y0, 1, wanted.y1}, {1, in.size.height}, separable.border);
  // The row pass's image: blocks, the last one whole.
  const std::int64_t padded = (n + block - 1) / block * block;
  const Region made{region.x0, read.y0, region.x0 + padded, read.y1};
  const std::int64_t stride = padded * static_cast<std::int64_t>(sizeof(float));
  std::byte* data = scratch.take<std::byte>(stride * made.height());
  const TileImage intermediate{data, stride, made, {made.x1, in.size.height},
                               PixelClass::single, 1};
  RowView input(in, {wanted.x0, made.y0, wanted.x1, made.y1}, reach.footprint.left, outside,
                in.cls, scratch, level);
  RowView view(intermediate, {made.x0, wanted.y0, made.x1, wanted.y1}, 0, outside,
               PixelClass::single, scratch, level);
  auto** rows = scratch.take<const float*>(view.height());
  std::int64_t done = 0, known = 0;
  constexpr int at_once = 4;
  for (std::int64_t y = 0; y < region.height();) {
    const int count = column_taps >= 3 && y + at_once <= region.height() ? at_once : 1;
    // Borders fold rows back by at most what lies outside.
    const std::int64_t end = y + count + column_taps - 1;
    const Region now = inside({0, wanted.y0, 1, wanted.y0 + end}, {1, in.size.height},
                              separable.border);
    for (; done < std::min(now.y1 - made.y0, made.height()); ++done) {
      const std::byte* from = input.row(done) - reach.footprint.left;
      row_pass(reinterpret_cast<float*>(data + done * stride),
               reinterpret_cast<const std::uint8_t*>(from), weights, taps, n);
    }
    for (; known < end; ++known) rows[known] = view.float_row(known);
    std::byte* to[at_once] = {};
    for (int k = 0; k < count; ++k) to[k] = out.data + (y + k) * out.stride;
    (count == at_once ? column_pass<at_once> : column_pass<1>)(to, rows + y, weights + taps,
                                                               column_taps, n);
    y += count;
  }
}

}  // namespace

bool run_separable_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                         const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const Separable& separable = std::get<Separable>(node.primitive);
  const double border = arguments.last();
  const bool is_code = border >= 0 && border <= 255 && border == static_cast<int>(border);
  if (level != CpuLevel::v4 || in.channels != 1 || bytes_of(in.cls) != 1 ||
      node.cls != PixelClass::uint8 || !separable.row.full() || !separable.column.full() ||
      separable.row.width > most_taps || region.width() < block ||
      (separable.border == Border::constant && !is_code)) {
    return false;
  }
  const Reach reach = reach_of(node);
  // Rows at the image's sides are copied to have their neighbours; the others are read in place.
  const bool sides = region.width() >= 4 * block;
  const std::int64_t middle = sides ? region.x0 + block : region.x1;
  const std::int64_t last = sides ? region.x1 - block : region.x1;
  for (const auto& [x0, x1] : {std::pair{region.x0, middle}, {middle, last}, {last, region.x1}}) {
    if (x0 == x1) continue;
    run_strip(separable, arguments, in, reach, {x0, region.y0, x1, region.y1},
              {out.data + (x0 - region.x0), out.stride}, scratch, level);
  }
  return true;
}
#else
bool run_separable_bytes(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                         Scratch&, CpuLevel) {
  return false;
}
#endif

}  // namespace impipe::cpu
