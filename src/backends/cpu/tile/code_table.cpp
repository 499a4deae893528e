// Tables over all codes of an integer class, and their application to rows.
#include "backends/cpu/tile/code_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

// Eight bytes of codes are read at once, so that most reads are those of the table.
template <class In, class Out>
void look_up(std::byte* out, const std::byte* in, const std::byte* table, std::int64_t n) {
  constexpr int bits = 8 * sizeof(In), codes = 64 / bits;
  const In* __restrict a = reinterpret_cast<const In*>(in);
  const Out* __restrict t = reinterpret_cast<const Out*>(table);
  Out* __restrict b = reinterpret_cast<Out*>(out);
  std::int64_t i = 0;
  for (; i + codes <= n; i += codes) {
    std::uint64_t read = 0;
    std::memcpy(&read, a + i, sizeof read);
#pragma GCC unroll 8
    for (int k = 0; k < codes; ++k) b[i + k] = t[static_cast<In>(read >> (bits * k))];
  }
  for (; i < n; ++i) b[i] = t[a[i]];
}

#if IMPIPE_HAS_INTRINSICS
// Bytes through a table in registers: two look-ups among 128 values each, chosen by the top bit.
// Only VBMI has look-ups among so many bytes; without it they go by sixteen, below.
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
// them: AVX2's choice by the top bit of a byte, which longer registers do not have.
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

IMPIPE_TARGET_v3 void look_up_by_sixteen(std::uint8_t* out, const std::uint8_t* in,
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
template <class In, class Out>
IMPIPE_INLINE void step_body(std::byte* to, const std::byte* from, int last, int low, int high,
                             std::int64_t n) {
  const In* __restrict in = reinterpret_cast<const In*>(from);
  Out* __restrict out = reinterpret_cast<Out*>(to);
  const In most = static_cast<In>(last);
  const Out below = static_cast<Out>(low), above = static_cast<Out>(high);
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] > most ? above : below;
}
IMPIPE_CPU_KERNEL(step,
                  (std::byte * out, const std::byte* in, int last, int low, int high,
                   std::int64_t n),
                  (out, in, last, low, high, n))

template <class real>
IMPIPE_INLINE real fused(real a, real b, real c) {
  return sizeof(real) == 4
             ? static_cast<real>(__builtin_fmaf(static_cast<float>(a), static_cast<float>(b),
                                                static_cast<float>(c)))
             : static_cast<real>(__builtin_fma(a, b, c));
}

template <class In, class Out, class real>
IMPIPE_INLINE void line_body(std::byte* to, const std::byte* from, const CodeLine& line,
                             std::int64_t n) {
  const In* __restrict in = reinterpret_cast<const In*>(from);
  Out* __restrict out = reinterpret_cast<Out*>(to);
  const real slope = static_cast<real>(line.slope), offset = static_cast<real>(line.offset);
  constexpr real largest = sizeof(Out) == 1 ? real(255) : real(65535);
  for (std::int64_t i = 0; i < n; ++i) {
    const real v = fused(slope, static_cast<real>(in[i]), offset);
    const real positive = v > real(0) ? v : real(0);
    const real bounded = positive < largest ? positive : largest;
    out[i] = static_cast<Out>(static_cast<std::int32_t>(bounded));
  }
}
IMPIPE_CPU_KERNEL(line,
                  (std::byte * out, const std::byte* in, const CodeLine& line, std::int64_t n),
                  (out, in, line, n))

// What the compiler makes of the loop above is twice as slow.
#define IMPIPE_KERNELS "backends/cpu/tile/code_table.inc"
#include "backends/cpu/simd/vector_levels.inc"

// out = c - in, at least 0: the larger of both less the code.
template <class T>
IMPIPE_INLINE void complement_body(std::byte* to, const std::byte* from, int c, std::int64_t n) {
  const T* __restrict in = reinterpret_cast<const T*>(from);
  T* __restrict out = reinterpret_cast<T*>(to);
  const T max = static_cast<T>(c);
  for (std::int64_t i = 0; i < n; ++i) {
    const T larger = in[i] > max ? in[i] : max;
    out[i] = static_cast<T>(larger - in[i]);
  }
}
IMPIPE_CPU_KERNEL(complement, (std::byte * out, const std::byte* in, int c, std::int64_t n),
                  (out, in, c, n))

// That is the line 65535 - code + 1/2, and others like it.
bool is_complement(const CodeLine& line) {
  return line.slope == -1 && line.offset >= 0 && line.offset < 65536 &&
         line.offset - std::floor(line.offset) == 0.5;
}

template <class In, class Out>
void compute_line(std::byte* out, const std::byte* in, const CodeLine& line_of, std::int64_t n,
                  CpuLevel level) {
  if (sizeof(In) == sizeof(Out) && is_complement(line_of)) {
    complement<In>[static_cast<int>(level)](out, in, static_cast<int>(line_of.offset), n);
    return;
  }
  std::int64_t done = 0;
#if IMPIPE_HAS_INTRINSICS
  done = (level == CpuLevel::v4 ? v4::blocks_of_line<In, Out>
                                : v3::blocks_of_line<In, Out>)(out, in, line_of, n);
#endif
  const int at = static_cast<int>(level);
  const auto rest = line_of.in_double ? line<In, Out, double>[at] : line<In, Out, float>[at];
  rest(out + done * static_cast<std::int64_t>(sizeof(Out)),
       in + done * static_cast<std::int64_t>(sizeof(In)), line_of, n - done);
}

using ComputeLine = void (*)(std::byte*, const std::byte*, const CodeLine&, std::int64_t, CpuLevel);
// Of bytes for bytes there are tables that are as fast, but for a complement.
ComputeLine line_of(PixelClass from, PixelClass to, const CodeLine& line) {
  if (to == PixelClass::single || to == PixelClass::logical) return nullptr;
  const bool to_bytes = bytes_of(to) == 1;
  if (bytes_of(from) == 2) {
    return to_bytes ? compute_line<std::uint16_t, std::uint8_t>
                    : compute_line<std::uint16_t, std::uint16_t>;
  }
  if (!to_bytes) return compute_line<std::uint8_t, std::uint16_t>;
  return is_complement(line) ? compute_line<std::uint8_t, std::uint8_t> : nullptr;
}

// A table of bytes for bytes, the fastest way here.
void look_up_bytes(std::uint8_t* out, const std::uint8_t* in, const std::uint8_t* table,
                   std::optional<int> last, std::int64_t n, CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4 && has_vbmi()) return look_up_vbmi(out, in, table, n);
#endif
  if (last) {
    step<std::uint8_t, std::uint8_t>[static_cast<int>(level)](
        reinterpret_cast<std::byte*>(out), reinterpret_cast<const std::byte*>(in), *last, table[0],
        table[255], n);
    return;
  }
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) return look_up_by_sixteen(out, in, table, n);
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

namespace {

// The last code of a table's first value, if behind it all have one other.
template <class T>
std::optional<int> last_of_first(const std::byte* table, int codes) {
  const T* values = reinterpret_cast<const T*>(table);
  int last = 0;
  while (last < codes - 1 && values[last + 1] == values[0]) ++last;
  const bool step = std::all_of(values + std::min(last + 1, codes - 1), values + codes,
                                [&](T value) { return value == values[codes - 1]; });
  return step ? std::optional(last) : std::nullopt;
}

template <class Out>
void apply_step(const CodeTable& table, std::byte* out, const std::byte* in, std::int64_t n,
                CpuLevel level) {
  const Out* values = reinterpret_cast<const Out*>(table.values.data());
  step<std::uint16_t, Out>[static_cast<int>(level)](out, in, *table.last_before_step, values[0],
                                                    values[65535], n);
}

}  // namespace

void look_for_step(CodeTable& table) {
  table.last_before_step.reset();
  if (table.to == PixelClass::single) return;
  const int codes = static_cast<int>(table_values(table.from));
  if (bytes_of(table.to) == 1) {
    table.last_before_step = last_of_first<std::uint8_t>(table.values.data(), codes);
  } else if (bytes_of(table.from) == 2) {
    table.last_before_step = last_of_first<std::uint16_t>(table.values.data(), codes);
  }
}

bool take_line(CodeTable& table, const CodeLine& line, CpuLevel level) {
  const ComputeLine compute = line_of(table.from, table.to, line);
  // The baseline has no fused multiplication.
  if (compute == nullptr || level == CpuLevel::baseline) return false;
  std::vector<std::byte> computed(table.values.size());
  const auto codes = static_cast<int>(table_values(table.from));
  std::vector<std::uint16_t> all(static_cast<std::size_t>(codes));
  auto* bytes = reinterpret_cast<std::uint8_t*>(all.data());
  for (int k = 0; k < codes; ++k) {
    bytes_of(table.from) == 1 ? bytes[k] = static_cast<std::uint8_t>(k)
                              : all[static_cast<std::size_t>(k)] = static_cast<std::uint16_t>(k);
  }
  compute(computed.data(), reinterpret_cast<const std::byte*>(all.data()), line, codes, level);
  if (computed != table.values) return false;
  table.line = line;
  return true;
}

void apply_table(const CodeTable& table, std::byte* out, const std::byte* in, std::int64_t n,
                 CpuLevel level) {
  if (bytes_of(table.from) == 1 && bytes_of(table.to) == 1 && !table.line) {
    look_up_bytes(reinterpret_cast<std::uint8_t*>(out), reinterpret_cast<const std::uint8_t*>(in),
                  reinterpret_cast<const std::uint8_t*>(table.values.data()),
                  table.last_before_step, n, level);
  } else if (bytes_of(table.from) == 2 && table.last_before_step) {
    (bytes_of(table.to) == 1 ? apply_step<std::uint8_t> : apply_step<std::uint16_t>)(table, out, in,
                                                                                     n, level);
  } else if (table.line) {
    line_of(table.from, table.to, *table.line)(out, in, *table.line, n, level);
  } else {
    look_up_of(table.from, table.to)(out, in, table.values.data(), n);
  }
}

}  // namespace impipe::cpu
