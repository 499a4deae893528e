// Weights that depend on how far apart two bytes are, looked up in registers, each byte of theirs
// by itself. Only VBMI has look-ups among so many bytes; the others compute the weights.
#include "backends/cpu/neighbourhood/weighted_bytes.hpp"

#include <cstring>

#include "backends/cpu/simd/intrinsics.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr std::int64_t table_bytes = 1024;  // 256 first bytes of weights, the second ones ...

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

// One byte of the weights of 64 distances, whose top bits are in `upper`.
IMPIPE_TARGET_VBMI inline __attribute__((always_inline)) __m512i weight_bytes(
    const __m512i (&part)[4], __m512i apart, __mmask64 upper) {
  return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(part[0], apart, part[1]),
                                _mm512_permutex2var_epi8(part[2], apart, part[3]));
}

IMPIPE_TARGET_VBMI void look_up_weights(float* out, const std::uint8_t* a, const std::uint8_t* b,
                                        const std::uint8_t* table, std::int64_t n) {
  __m512i parts[4][4];
  for (int byte = 0; byte < 4; ++byte) {
    for (int k = 0; k < 4; ++k) {
      parts[byte][k] = _mm512_loadu_si512(table + 256 * byte + 64 * k);
    }
  }
  // Unpacking works in quarters of a register: each has four bytes of every 16.
  const __m512i quarters = _mm512_set4_epi32(0x33323130, 0x23222120, 0x13121110, 0x03020100);
  const __m512i order = _mm512_add_epi8(
      quarters, _mm512_inserti64x4(
                    _mm512_castsi256_si512(_mm256_set_m128i(_mm_set1_epi8(4), _mm_set1_epi8(0))),
                    _mm256_set_m128i(_mm_set1_epi8(12), _mm_set1_epi8(8)), 1));
  for (std::int64_t i = 0; i < n; i += 64) {
    const __m512i x = _mm512_loadu_si512(a + i), y = _mm512_loadu_si512(b + i);
    const __m512i apart = _mm512_permutexvar_epi8(
        order, _mm512_or_si512(_mm512_subs_epu8(x, y), _mm512_subs_epu8(y, x)));
    const __mmask64 upper = _mm512_movepi8_mask(apart);
    const __m512i b0 = weight_bytes(parts[0], apart, upper);
    const __m512i b1 = weight_bytes(parts[1], apart, upper);
    const __m512i b2 = weight_bytes(parts[2], apart, upper);
    const __m512i b3 = weight_bytes(parts[3], apart, upper);
    const __m512i low = _mm512_unpacklo_epi8(b0, b1), low_end = _mm512_unpacklo_epi8(b2, b3);
    const __m512i high = _mm512_unpackhi_epi8(b0, b1), high_end = _mm512_unpackhi_epi8(b2, b3);
    _mm512_storeu_si512(out + i, _mm512_unpacklo_epi16(low, low_end));
    _mm512_storeu_si512(out + i + 16, _mm512_unpackhi_epi16(low, low_end));
    _mm512_storeu_si512(out + i + 32, _mm512_unpacklo_epi16(high, high_end));
    _mm512_storeu_si512(out + i + 48, _mm512_unpackhi_epi16(high, high_end));
  }
}

}  // namespace

bool ByteWeights::make(const StencilBody& body, const float* args, int reach, std::int64_t pixels,
                       Scratch& scratch, CpuLevel level) {
  static const bool has_vbmi = __builtin_cpu_supports("avx512vbmi");
  // Making the tables takes as long as some thousands of pixels do.
  constexpr std::int64_t least = 4096;
  if (level != CpuLevel::v4 || !has_vbmi || pixels < least) return false;
  reach_ = reach;
  tables_.assign(place(reach, reach) + 1, nullptr);
  for (int dy = 0; dy <= reach; ++dy) {
    for (int dx = dy > 0 ? -reach : 0; dx <= reach; ++dx) {
      auto* table = scratch.take<std::uint8_t>(table_bytes);
      if (!make_table(table, body, dx, dy, args, level)) return false;
      tables_[place(dx, dy)] = table;
    }
  }
  return true;
}

void ByteWeights::row(float* out, const std::uint8_t* a, const std::uint8_t* b, int dx, int dy,
                      std::int64_t n) const {
  look_up_weights(out, a, b, tables_[place(dx, dy)], n);
}
#else
bool ByteWeights::make(const StencilBody&, const float*, int, std::int64_t, Scratch&, CpuLevel) {
  return false;
}
void ByteWeights::row(float*, const std::uint8_t*, const std::uint8_t*, int, int,
                      std::int64_t) const {}
#endif

}  // namespace impipe::cpu
