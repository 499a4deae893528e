// Weighted means of bytes whose weights depend on how far apart two bytes are: for each place of
// the square a table of 256 weights, which are looked up in registers, each byte of theirs by
// itself. Only VBMI has look-ups among so many bytes; the others compute the weights.
#include "backends/cpu/neighbourhood/weighted_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr std::int64_t chunk = 512;   // pixels: their sums stay in L1
constexpr std::int64_t table = 1024;  // bytes: 256 first bytes of weights, the second ones ...

// A place of the square: where its row's pixels are for the middle's first one, and its table.
struct WeightedTap {
  std::int64_t row = 0, dx = 0;
  const std::uint8_t* table = nullptr;
};

// Weights of a distance of 0 to 255 as tables of bytes, or none where the sign of the distance
// counts.
bool make_table(std::uint8_t* to, const StencilBody& body, int dx, int dy, const float* args,
                CpuLevel level) {
  float apart[256], weights[256], others[256];
  const WeightRow row = body.weights[static_cast<int>(level)];
  for (int k = 0; k < 256; ++k) apart[k] = static_cast<float>(k);
  row(weights, apart, 256, dx, dy, args);
  for (float& a : apart) a = -a;
  row(others, apart, 256, dx, dy, args);
  if (std::memcmp(weights, others, sizeof weights) != 0) return false;
  for (int k = 0; k < 256; ++k) {
    std::uint8_t bytes[4];
    std::memcpy(bytes, weights + k, sizeof bytes);
    for (int b = 0; b < 4; ++b) to[256 * b + k] = bytes[b];
  }
  return true;
}

// Sums of 64 pixels in four registers: of each 16 pixels the first four in the first register, the
// next four in the second and so on, as unpacking leaves them and packing takes them.
struct Sums {
  float weights[chunk], values[chunk];
};

// One byte of the weights of 64 distances, whose top bits are in `upper`.
IMPIPE_TARGET_VBMI inline __attribute__((always_inline)) __m512i weight_bytes(
    const __m512i (&part)[4], __m512i apart, __mmask64 upper) {
  return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(part[0], apart, part[1]),
                                _mm512_permutex2var_epi8(part[2], apart, part[3]));
}

// Adds the pixels of a place, weighted; whole registers of them.
IMPIPE_TARGET_VBMI void add_tap(Sums& sums, const std::uint8_t* middle, const std::uint8_t* values,
                                const std::uint8_t* bytes, std::int64_t n) {
  __m512i parts[4][4];
  for (int b = 0; b < 4; ++b) {
    for (int k = 0; k < 4; ++k) parts[b][k] = _mm512_loadu_si512(bytes + 256 * b + 64 * k);
  }
  const __m512i first = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1));
  for (std::int64_t i = 0; i < n; i += 64) {
    const __m512i x = _mm512_loadu_si512(middle + i), v = _mm512_loadu_si512(values + i);
    const __m512i apart = _mm512_or_si512(_mm512_subs_epu8(x, v), _mm512_subs_epu8(v, x));
    const __mmask64 upper = _mm512_movepi8_mask(apart);
    const __m512i b0 = weight_bytes(parts[0], apart, upper);
    const __m512i b1 = weight_bytes(parts[1], apart, upper);
    const __m512i b2 = weight_bytes(parts[2], apart, upper);
    const __m512i b3 = weight_bytes(parts[3], apart, upper);
    const __m512i low = _mm512_unpacklo_epi8(b0, b1), low_end = _mm512_unpacklo_epi8(b2, b3);
    const __m512i high = _mm512_unpackhi_epi8(b0, b1), high_end = _mm512_unpackhi_epi8(b2, b3);
    const __m512i weights[4] = {
        _mm512_unpacklo_epi16(low, low_end), _mm512_unpackhi_epi16(low, low_end),
        _mm512_unpacklo_epi16(high, high_end), _mm512_unpackhi_epi16(high, high_end)};
    for (int k = 0; k < 4; ++k) {
      // Bytes 4 k to 4 k + 3 of each 16; -1 stays one whose byte is 0.
      const __m512i places = _mm512_or_si512(first, _mm512_set1_epi32(4 * k));
      const __m512 value = _mm512_cvtepi32_ps(_mm512_shuffle_epi8(v, places));
      const __m512 weight = _mm512_castsi512_ps(weights[k]);
      float* of_weights = sums.weights + i + 16 * k;
      float* of_values = sums.values + i + 16 * k;
      _mm512_storeu_ps(of_weights, _mm512_add_ps(_mm512_loadu_ps(of_weights), weight));
      _mm512_storeu_ps(of_values, _mm512_fmadd_ps(weight, value, _mm512_loadu_ps(of_values)));
    }
  }
}

// The codes of the means of 64 pixels.
IMPIPE_TARGET_VBMI __m512i codes_of(const Sums& sums, std::int64_t i) {
  constexpr float below_half = 0x1.fffffep-2f;  // see rows.cpp
  __m512i codes[4];
  for (int k = 0; k < 4; ++k) {
    const __m512 mean = _mm512_div_ps(_mm512_loadu_ps(sums.values + i + 16 * k),
                                      _mm512_loadu_ps(sums.weights + i + 16 * k));
    const __m512 positive = _mm512_max_ps(mean, _mm512_setzero_ps());
    const __m512 bounded = _mm512_min_ps(positive, _mm512_set1_ps(255));
    codes[k] = _mm512_cvttps_epi32(_mm512_add_ps(bounded, _mm512_set1_ps(below_half)));
  }
  return _mm512_packus_epi16(_mm512_packus_epi32(codes[0], codes[1]),
                             _mm512_packus_epi32(codes[2], codes[3]));
}

IMPIPE_TARGET_VBMI void store_means(std::uint8_t* out, const Sums& sums, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 64) {
    const std::int64_t count = std::min<std::int64_t>(64, n - i);
    const __mmask64 wanted = ~__mmask64{0} >> (64 - count);
    _mm512_mask_storeu_epi8(out + i, wanted, codes_of(sums, i));
  }
}

// rows[0] is the row of the first places, at the output's first pixel.
void weighted_row(std::uint8_t* out, const std::byte* const* rows,
                  std::span<const WeightedTap> taps, std::int64_t middle, std::int64_t n) {
  Sums sums;
  for (std::int64_t x = 0; x < n; x += chunk) {
    const std::int64_t count = std::min(chunk, n - x);
    std::fill_n(sums.weights, chunk, 0.0f);
    std::fill_n(sums.values, chunk, 0.0f);
    const auto at = [&](std::int64_t row, std::int64_t dx) {
      return reinterpret_cast<const std::uint8_t*>(rows[row]) + x + dx;
    };
    for (const WeightedTap& tap : taps) {
      add_tap(sums, at(middle, 0), at(tap.row, tap.dx), tap.table, count);
    }
    store_means(out + x, sums, count);
  }
}

bool can_be_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                  const Region& region, CpuLevel level) {
  static const bool has_vbmi = __builtin_cpu_supports("avx512vbmi");
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  if (stencil.body == nullptr || stencil.body->last == nullptr) return false;
  if (level != CpuLevel::v4 || !has_vbmi) return false;
  if (in.cls != PixelClass::uint8 || node.cls != PixelClass::uint8) return false;
  // Making the tables takes as long as some thousands of pixels do.
  constexpr std::int64_t least = 4096;
  return region.pixels() >= least &&
         (stencil.border != Border::constant || is_code(arguments.last(), PixelClass::uint8));
}

}  // namespace

bool run_weighted_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                        const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  if (!can_be_bytes(node, arguments, in, region, level)) return false;
  const ScratchScope scope(scratch);
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  const PrimitiveFacts facts = facts_of(node);
  const int last = stencil.body->last(arguments.in_float.data()), side = 2 * last + 1;
  auto* tables = scratch.take<std::uint8_t>(table * side * side);
  std::vector<WeightedTap> taps;
  for (int dy = -last; dy <= last; ++dy) {
    for (int dx = -last; dx <= last; ++dx, tables += table) {
      if (!make_table(tables, *stencil.body, dx, dy, arguments.in_float.data(), level))
        return false;
      taps.push_back({facts.footprint.up + dy, dx, tables});
    }
  }
  RowView view(in, under(facts, region), facts.footprint.left, {stencil.border, arguments.last()},
               PixelClass::uint8, scratch, level);
  auto** rows = scratch.take<const std::byte*>(view.height());
  for (std::int64_t i = 0; i < view.height(); ++i) rows[i] = view.row(i);
  for (std::int64_t y = 0; y < region.height(); ++y) {
    weighted_row(reinterpret_cast<std::uint8_t*>(out.data + y * out.stride), rows + y, taps,
                 facts.footprint.up, region.width());
  }
  return true;
}
#else
bool run_weighted_bytes(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                        Scratch&, CpuLevel) {
  return false;
}
#endif

}  // namespace impipe::cpu
