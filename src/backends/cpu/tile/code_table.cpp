// Tables over all codes of an integer class, and their application to rows.
#include "backends/cpu/tile/code_table.hpp"

#include <algorithm>

#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/simd/level.hpp"

namespace impipe::cpu {
namespace {

template <class In, class Out>
void look_up(std::byte* out, const std::byte* in, const std::byte* table, std::int64_t n) {
  const In* __restrict a = reinterpret_cast<const In*>(in);
  const Out* __restrict t = reinterpret_cast<const Out*>(table);
  Out* __restrict b = reinterpret_cast<Out*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = t[a[i]];
}

#if IMPIPE_HAS_INTRINSICS
// Bytes through a table in registers: two look-ups among 128 values each, chosen by the top bit.
IMPIPE_TARGET_VBMI void look_up_vbmi(std::uint8_t* out, const std::uint8_t* in,
                                     const std::uint8_t* table, std::int64_t n) {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64);
  const __m512i t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  const auto codes = [&](__m512i v) IMPIPE_TARGET_VBMI {
    const __m512i low = _mm512_permutex2var_epi8(t0, v, t1);
    const __m512i high = _mm512_permutex2var_epi8(t2, v, t3);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high);
  };
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) _mm512_storeu_si512(out + i, codes(_mm512_loadu_si512(in + i)));
  for (; i < n; ++i) out[i] = table[in[i]];
}

// Tables first, first + 1 ... of sixteen codes each, looked up with a code's lower half; the bits
// of the upper half, the lowest of them first in `bits` at the top of each byte, choose between
// them.
template <int first, int tables>
IMPIPE_TARGET_v3 inline __attribute__((always_inline)) __m256i chosen(const std::uint8_t* table,
                                                                      __m256i low_half,
                                                                      const __m256i* bits) {
  if constexpr (tables == 1) {
    const auto* part = reinterpret_cast<const __m128i*>(table + 16 * first);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(part)), low_half);
  } else {
    constexpr int half = tables / 2;
    constexpr int bit = half == 1 ? 0 : half == 2 ? 1 : half == 4 ? 2 : 3;
    return _mm256_blendv_epi8(chosen<first, half>(table, low_half, bits),
                              chosen<first + half, half>(table, low_half, bits), bits[bit]);
  }
}

IMPIPE_TARGET_v3 void look_up_v3(std::uint8_t* out, const std::uint8_t* in,
                                 const std::uint8_t* table, std::int64_t n) {
  const __m256i low_half = _mm256_set1_epi8(15);
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i bits[] = {_mm256_slli_epi16(v, 3), _mm256_slli_epi16(v, 2),
                            _mm256_slli_epi16(v, 1), v};
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        chosen<0, 16>(table, _mm256_and_si256(v, low_half), bits));
  }
  for (; i < n; ++i) out[i] = table[in[i]];
}

bool has_vbmi() {
  static const bool has = __builtin_cpu_supports("avx512vbmi");
  return has;
}
#endif

// out = in > last ? high : low
template <class...>
IMPIPE_INLINE void step_body(std::uint8_t* __restrict out, const std::uint8_t* __restrict in,
                             std::uint8_t last, std::uint8_t low, std::uint8_t high,
                             std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] > last ? high : low;
}
IMPIPE_CPU_KERNEL(step,
                  (std::uint8_t * out, const std::uint8_t* in, std::uint8_t last, std::uint8_t low,
                   std::uint8_t high, std::int64_t n),
                  (out, in, last, low, high, n))

// A table of bytes for bytes, the fastest way here.
void look_up_bytes(std::uint8_t* out, const std::uint8_t* in, const std::uint8_t* table,
                   std::optional<int> last, std::int64_t n, CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4 && has_vbmi()) return look_up_vbmi(out, in, table, n);
#endif
  if (last) {
    step<>[static_cast<int>(level)](out, in, static_cast<std::uint8_t>(*last), table[0], table[255],
                                    n);
    return;
  }
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) return look_up_v3(out, in, table, n);
#endif
  look_up<std::uint8_t, std::uint8_t>(reinterpret_cast<std::byte*>(out),
                                      reinterpret_cast<const std::byte*>(in),
                                      reinterpret_cast<const std::byte*>(table), n);
}

using LookUp = void (*)(std::byte*, const std::byte*, const std::byte*, std::int64_t);

LookUp look_up_of(PixelClass from, PixelClass to) {
  static constexpr LookUp functions[2][3] = {
      {look_up<std::uint8_t, std::uint8_t>, look_up<std::uint8_t, std::uint16_t>,
       look_up<std::uint8_t, float>},
      {look_up<std::uint16_t, std::uint8_t>, look_up<std::uint16_t, std::uint16_t>,
       look_up<std::uint16_t, float>}};
  const int bytes = bytes_of(to);
  return functions[bytes_of(from) - 1][bytes == 4 ? 2 : bytes - 1];
}

}  // namespace

std::size_t table_values(PixelClass cls) { return bytes_of(cls) == 1 ? 256 : 65536; }

std::int64_t codes_of(PixelClass cls) { return static_cast<std::int64_t>(class_max(cls)) + 1; }

CodeTable composed(const CodeTable& first, const CodeTable& second) {
  CodeTable out{first.from, second.to, {}, {}};
  out.values.resize(table_values(first.from) * bytes_of(second.to));
  look_up_of(first.to, second.to)(out.values.data(), first.values.data(), second.values.data(),
                                  codes_of(first.from));
  return out;
}

void look_for_step(CodeTable& table) {
  table.last_before_step.reset();
  if (bytes_of(table.from) != 1 || bytes_of(table.to) != 1) return;
  const std::byte* values = table.values.data();
  int last = 0;
  while (last < 255 && values[last + 1] == values[0]) ++last;
  if (std::all_of(values + std::min(last + 1, 255), values + 256,
                  [&](std::byte value) { return value == values[255]; })) {
    table.last_before_step = last;
  }
}

void apply_table(const CodeTable& table, std::byte* out, const std::byte* in, std::int64_t n,
                 CpuLevel level) {
  if (bytes_of(table.from) == 1 && bytes_of(table.to) == 1) {
    look_up_bytes(reinterpret_cast<std::uint8_t*>(out), reinterpret_cast<const std::uint8_t*>(in),
                  reinterpret_cast<const std::uint8_t*>(table.values.data()),
                  table.last_before_step, n, level);
  } else {
    look_up_of(table.from, table.to)(out, in, table.values.data(), n);
  }
}

}  // namespace impipe::cpu
