// Weighted sums of three planes of codes, without the divisions and doubles of their bodies: an
// approximation whose error has a bound, and the body itself for the few pixels that lie that close
// to a half.
#include "backends/cpu/point/luminance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/body_tree.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t block = 64;  // pixels

// Both functions make whole blocks and set unsafe[k] where block k has a sum close to a tie.

#if IMPIPE_HAS_INTRINSICS
IMPIPE_TARGET_v3 inline __m256 eight_numbers(const std::byte* in) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in))));
}

// Of bytes, in units of 2^-16: four roundings of numbers below 2^24, those of the weights, which
// are at most 1, and the dropped fraction are less than 5 units. The body's own error is below
// 1e-11.
IMPIPE_TARGET_v3 void codes_of_bytes(std::byte* out, const std::byte* const* in,
                                     std::int64_t blocks, const double* weights,
                                     std::uint8_t* unsafe) {
  constexpr float unit = 0x1p16f;
  constexpr int near = 8;
  const __m256 r = _mm256_set1_ps(static_cast<float>(weights[0]) * unit);
  const __m256 g = _mm256_set1_ps(static_cast<float>(weights[1]) * unit);
  const __m256 b = _mm256_set1_ps(static_cast<float>(weights[2]) * unit);
  const __m256 half = _mm256_set1_ps(static_cast<float>(weights[3] + 0.5) * unit);
  const __m256i fraction = _mm256_set1_epi32(0xffff);
  // Packing works in halves of a register; this puts the quarters of 8 codes in order.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (std::int64_t k = 0; k < blocks; ++k) {
    __m256i least = fraction;
    for (std::int64_t i = k * block; i < (k + 1) * block; i += 32) {
      __m256i codes[4];
      for (int part = 0; part < 4; ++part) {
        const std::int64_t at = i + 8 * part;
        __m256 sum = _mm256_fmadd_ps(r, eight_numbers(in[0] + at), half);
        sum = _mm256_fmadd_ps(g, eight_numbers(in[1] + at), sum);
        sum = _mm256_fmadd_ps(b, eight_numbers(in[2] + at), sum);
        const __m256i fixed = _mm256_cvttps_epi32(sum);
        const __m256i moved = _mm256_add_epi32(fixed, _mm256_set1_epi32(near));
        least = _mm256_min_epi32(least, _mm256_and_si256(moved, fraction));
        codes[part] = _mm256_srli_epi32(fixed, 16);
      }
      const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(codes[0], codes[1]),
                                                 _mm256_packus_epi32(codes[2], codes[3]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                          _mm256_permutevar8x32_epi32(packed, order));
    }
    const __m256i ties = _mm256_cmpgt_epi32(_mm256_set1_epi32(2 * near), least);
    unsafe[k] = _mm256_movemask_epi8(ties) != 0;
  }
}

// The same with sixteen pixels in a register.
IMPIPE_TARGET_v4 void codes_of_bytes_v4(std::byte* out, const std::byte* const* in,
                                        std::int64_t blocks, const double* weights,
                                        std::uint8_t* unsafe) {
  constexpr float unit = 0x1p16f;
  constexpr int near = 8;
  const __m512 r = _mm512_set1_ps(static_cast<float>(weights[0]) * unit);
  const __m512 g = _mm512_set1_ps(static_cast<float>(weights[1]) * unit);
  const __m512 b = _mm512_set1_ps(static_cast<float>(weights[2]) * unit);
  const __m512 half = _mm512_set1_ps(static_cast<float>(weights[3] + 0.5) * unit);
  const __m512i fraction = _mm512_set1_epi32(0xffff);
  const auto numbers = [](const std::byte* from) IMPIPE_TARGET_v4 {
    return _mm512_cvtepi32_ps(
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  };
  for (std::int64_t k = 0; k < blocks; ++k) {
    __m512i least = fraction;
    for (std::int64_t i = k * block; i < (k + 1) * block; i += 16) {
      __m512 sum = _mm512_fmadd_ps(r, numbers(in[0] + i), half);
      sum = _mm512_fmadd_ps(g, numbers(in[1] + i), sum);
      sum = _mm512_fmadd_ps(b, numbers(in[2] + i), sum);
      const __m512i fixed = _mm512_cvttps_epi32(sum);
      const __m512i moved = _mm512_add_epi32(fixed, _mm512_set1_epi32(near));
      least = _mm512_min_epi32(least, _mm512_and_si512(moved, fraction));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm512_cvtepi32_epi8(_mm512_srli_epi32(fixed, 16)));
    }
    unsafe[k] = _mm512_cmplt_epi32_mask(least, _mm512_set1_epi32(2 * near)) != 0;
  }
}

// Of 16 bits, in double: `near` as below.
IMPIPE_TARGET_v4 void codes_of_words_v4(std::byte* out, const std::byte* const* in,
                                        std::int64_t blocks, const double* weights,
                                        std::uint8_t* unsafe) {
  const __m512d r = _mm512_set1_pd(weights[0]), g = _mm512_set1_pd(weights[1]);
  const __m512d b = _mm512_set1_pd(weights[2]), half = _mm512_set1_pd(weights[3] + 0.5);
  const __m512d near = _mm512_set1_pd(1e-9);
  const auto numbers = [](const std::byte* from) IMPIPE_TARGET_v4 {
    return _mm512_cvtepi32_pd(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  };
  for (std::int64_t k = 0; k < blocks; ++k) {
    unsigned ties = 0;
    for (std::int64_t i = 2 * k * block; i < 2 * (k + 1) * block; i += 16) {
      __m512d sum = _mm512_fmadd_pd(r, numbers(in[0] + i), half);
      sum = _mm512_fmadd_pd(g, numbers(in[1] + i), sum);
      sum = _mm512_fmadd_pd(b, numbers(in[2] + i), sum);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm256_cvtepi32_epi16(_mm512_cvttpd_epi32(sum)));
      // How far the nearest whole number is, on which the code changes.
      const __m512d off = _mm512_abs_pd(_mm512_reduce_pd(sum, _MM_FROUND_TO_NEAREST_INT));
      ties |= _mm512_cmp_pd_mask(off, near, _CMP_LT_OQ);
    }
    unsafe[k] = ties != 0;
  }
}
#endif

// Of 16 bits, in double: near is more than the error of either sum, 2^18 * 20 / 2^53.
template <class...>
IMPIPE_INLINE void codes_of_words_body(std::byte* out, const std::byte* const* in,
                                       std::int64_t blocks, const double* weights,
                                       std::uint8_t* unsafe) {
  const double red = weights[0], green = weights[1], blue = weights[2], half = weights[3] + 0.5;
  constexpr double near = 1e-9;
  const auto* r = reinterpret_cast<const std::uint16_t*>(in[0]);
  const auto* g = reinterpret_cast<const std::uint16_t*>(in[1]);
  const auto* b = reinterpret_cast<const std::uint16_t*>(in[2]);
  auto* to = reinterpret_cast<std::uint16_t*>(out);
  for (std::int64_t k = 0; k < blocks; ++k, r += block, g += block, b += block, to += block) {
    std::int32_t ties = 0;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < block; ++i) {
      const double sum =
          red * std::int32_t{r[i]} + green * std::int32_t{g[i]} + blue * std::int32_t{b[i]} + half;
      const std::int32_t code = static_cast<std::int32_t>(sum);
      const double part = sum - code;
      ties |= static_cast<std::int32_t>(part < near) | static_cast<std::int32_t>(part > 1 - near);
      to[i] = static_cast<std::uint16_t>(code);
    }
    unsafe[k] = ties != 0;
  }
}
IMPIPE_CPU_KERNEL(codes_of_words,
                  (std::byte * out, const std::byte* const* in, std::int64_t blocks,
                   const double* weights, std::uint8_t* unsafe),
                  (out, in, blocks, weights, unsafe))

struct Exact {
  const PointBody& body;
  const double* args;
  PixelClass cls;
  CpuLevel level;
};

// The body itself, in double; n <= block.
void run_exactly(std::byte* out, const std::byte* const* in, std::int64_t n, const Exact& exact) {
  double channels[3][block], result[block];
  const double* rows[] = {channels[0], channels[1], channels[2]};
  for (int c = 0; c < 3; ++c) load_row(channels[c], in[c], exact.cls, n, exact.level);
  exact.body.rows_double[static_cast<int>(exact.level)](result, rows, n, exact.args);
  store_row(out, result, exact.cls, n, exact.level);
}

using CodesFunction = void (*)(std::byte* out, const std::byte* const* in, std::int64_t blocks,
                               const double* weights, std::uint8_t* unsafe);

CodesFunction codes_function([[maybe_unused]] PixelClass cls, CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  const bool wide = level == CpuLevel::v4;
  if (cls == PixelClass::uint8) return wide ? codes_of_bytes_v4 : codes_of_bytes;
  if (wide) return codes_of_words_v4;
#endif
  return codes_of_words<>[static_cast<int>(level)];
}

struct MeanRow {
  CodesFunction codes;
  const MeanWeights& weights;
  Exact exact;
  bool many_ties = false;

  void run(std::byte* out, const std::byte* const* in, std::int64_t blocks) {
    constexpr std::int64_t max_blocks = 64;
    const std::int64_t bytes = block * bytes_of(exact.cls);
    const auto at = [&](std::int64_t k) {
      return std::array{in[0] + k * bytes, in[1] + k * bytes, in[2] + k * bytes};
    };
    for (std::int64_t first = 0; first < blocks; first += max_blocks) {
      const std::int64_t count = std::min(max_blocks, blocks - first);
      std::uint8_t unsafe[max_blocks];
      if (many_ties) {
        std::fill_n(unsafe, count, std::uint8_t{1});
      } else {
        codes(out + first * bytes, at(first).data(), count, weights.data(), unsafe);
      }
      // Weights like a half and two quarters are close to a tie in every block.
      many_ties = 2 * std::count(unsafe, unsafe + count, 1) > count;
      for (std::int64_t k = 0; k < count; ++k) {
        if (unsafe[k] == 0) continue;
        run_exactly(out + (first + k) * bytes, at(first + k).data(), block, exact);
      }
    }
  }
};

// Whether all sums, and the parts of one that are there before it, are codes of `to`.
bool are_codes(const MeanWeights& weights, PixelClass to) {
  const double largest = class_max(to), margin = 1e-3;
  double low = weights[3], high = weights[3];
  for (int c = 0; c < 3; ++c) {
    if (!(low >= -largest && high <= largest && std::abs(weights[c]) <= 1)) return false;
    low += std::min(weights[c], 0.0) * largest;
    high += std::max(weights[c], 0.0) * largest;
  }
  return low >= -0.5 + margin && high <= largest + 0.5 - margin;
}

}  // namespace

std::optional<MeanWeights> mean_weights(const PointBody& body, std::span<const PixelClass> from,
                                        PixelClass to, const std::vector<double>& args,
                                        CpuLevel level) {
  const bool codes = to == PixelClass::uint8 || to == PixelClass::uint16;
  const bool same = std::all_of(from.begin(), from.end(), [to](PixelClass c) { return c == to; });
  if (level == CpuLevel::baseline || body.inputs != 3 || !codes || !same) return std::nullopt;
  // Differences could take away what the bounds on the body's own error are relative to; of what
  // is below 0 the bound is that of its size, if no such sum divides.
  const BodyTraits traits = traits_of(body);
  const bool signs = std::any_of(args.begin(), args.end(), [](double a) { return a < 0; });
  if (traits.differences || (signs && traits.quotients)) return std::nullopt;
  std::vector<double> sizes = args;
  for (double& size : sizes) size = std::abs(size);
  const std::optional<std::vector<double>> sum = linear_weights(body, args);
  const std::optional<std::vector<double>> most = linear_weights(body, sizes);
  if (!sum || !most) return std::nullopt;
  const MeanWeights weights{(*sum)[0], (*sum)[1], (*sum)[2], (*sum)[3]};
  double largest = (*most)[3];
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (!(std::abs(weights[k]) <= (*most)[k] * (1 + 1e-12))) return std::nullopt;
    if (k < 3) largest += (*most)[k] * class_max(to);
  }
  const bool small = largest <= 4 * (class_max(to) + 1);
  return small && are_codes(weights, to) ? std::optional(weights) : std::nullopt;
}

void run_mean(std::byte* out, const std::byte* const* in, PixelClass cls, std::int64_t n,
              const PointBody& body, const MeanWeights& weights, const std::vector<double>& args,
              CpuLevel level) {
  MeanRow row{codes_function(cls, level), weights, {body, args.data(), cls, level}};
  const std::int64_t whole = n / block, rest = n % block, bytes = bytes_of(cls);
  row.run(out, in, whole);
  if (rest == 0) return;
  // The last pixels in a block of their own.
  std::byte padded[3][2 * block] = {}, result[2 * block];
  const std::byte* rows[] = {padded[0], padded[1], padded[2]};
  for (int c = 0; c < 3; ++c) std::memcpy(padded[c], in[c] + whole * block * bytes, rest * bytes);
  row.run(result, rows, 1);
  std::memcpy(out + whole * block * bytes, result, rest * bytes);
}

}  // namespace impipe::cpu
