// Bits from pixels and back, and the pixels that no neighbour exceeds.
#include "backends/cpu/components/bit_plane.hpp"

#include <cstring>
#include <type_traits>

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {

void set_bits(std::uint64_t* row, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = begin / 64, last = (end - 1) / 64;
  const std::uint64_t from = ~std::uint64_t{0} << begin % 64;
  const std::uint64_t to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) {
    row[first] |= from & to;
    return;
  }
  row[first] |= from;
  for (std::int64_t w = first + 1; w < last; ++w) row[w] = ~std::uint64_t{0};
  row[last] |= to;
}

bool any_bit(const std::uint64_t* row, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = begin / 64, last = (end - 1) / 64;
  const std::uint64_t from = ~std::uint64_t{0} << begin % 64;
  const std::uint64_t to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) return (row[first] & from & to) != 0;
  std::uint64_t any = row[first] & from;
  for (std::int64_t w = first + 1; w < last; ++w) any |= row[w];
  return (any | (row[last] & to)) != 0;
}

namespace {

// Words of 64 bytes of 0 or 1, and back.
void pack_words(const std::uint8_t* bytes, std::int64_t words, std::uint64_t* row) {
  // Eight bytes come together in the top byte of the product.
  constexpr std::uint64_t gather = 0x0102040810204080;
  for (std::int64_t w = 0; w < words; ++w, bytes += 64) {
    row[w] = 0;
    for (int k = 0; k < 8; ++k) {
      std::uint64_t eight;
      std::memcpy(&eight, bytes + 8 * k, 8);
      row[w] |= (eight * gather >> 56) << 8 * k;
    }
  }
}
void unpack_words(const std::uint64_t* row, std::int64_t words, std::uint64_t flip,
                  std::uint8_t* bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101, each = 0x8040201008040201;
  for (std::int64_t w = 0; w < words; ++w, bytes += 64) {
    const std::uint64_t word = row[w] ^ flip;
    for (int k = 0; k < 8; ++k) {
      const std::uint64_t kept = (word >> 8 * k & 0xff) * ones & each;
      // A byte that is not 0 carries into its top bit.
      const std::uint64_t spread =
          (((kept & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | kept) >> 7 & ones;
      std::memcpy(bytes + 8 * k, &spread, 8);
    }
  }
}

using PackWords = void (*)(const std::uint8_t* bytes, std::int64_t words, std::uint64_t* row);
using UnpackWords = void (*)(const std::uint64_t* row, std::int64_t words, std::uint64_t flip,
                             std::uint8_t* bytes);
#define IMPIPE_KERNELS "backends/cpu/components/bit_plane.inc"
#include "backends/cpu/simd/vector_levels.inc"

}  // namespace

void pack_bits(const std::uint8_t* bytes, std::int64_t count, std::uint64_t* row, CpuLevel level) {
  const std::int64_t words = count / 64, rest = count % 64;
  const PackWords pack = IMPIPE_VECTORS_OR(level, pack_words, pack_words);
  pack(bytes, words, row);
  if (rest == 0) return;
  std::uint8_t last[64] = {};
  std::memcpy(last, bytes + 64 * words, static_cast<std::size_t>(rest));
  pack(last, 1, row + words);
}

void unpack_bits(const std::uint64_t* row, std::int64_t count, bool inverted, std::uint8_t* bytes,
                 CpuLevel level) {
  const std::int64_t words = count / 64, rest = count % 64;
  const std::uint64_t flip = inverted ? ~std::uint64_t{0} : 0;
  const UnpackWords unpack = IMPIPE_VECTORS_OR(level, unpack_words, unpack_words);
  unpack(row, words, flip, bytes);
  if (rest == 0) return;
  std::uint8_t last[64];
  unpack(row + words, 1, flip, last);
  std::memcpy(bytes + 64 * words, last, static_cast<std::size_t>(rest));
}

namespace {

template <class T>
IMPIPE_INLINE void set_body(const std::byte* pixels, std::int64_t count,
                            std::uint8_t* __restrict bytes) {
  const T* row = reinterpret_cast<const T*>(pixels);
  for (std::int64_t x = 0; x < count; ++x) bytes[x] = row[x] != 0;
}
IMPIPE_CPU_KERNEL(set, (const std::byte* pixels, std::int64_t count, std::uint8_t* bytes),
                  (pixels, count, bytes))

// The largest (or smallest) of both.
template <class Largest, class T>
IMPIPE_INLINE T further(T a, T b) {
  return Largest::value ? (a > b ? a : b) : (a < b ? a : b);
}

template <class T, class Largest, class Corners>
IMPIPE_INLINE void peaks_body(const PeakRows& rows) {
  const T* __restrict over = static_cast<const T*>(rows.pixels[0]) + 1;
  const T* __restrict here = static_cast<const T*>(rows.pixels[1]) + 1;
  const T* __restrict under = static_cast<const T*>(rows.pixels[2]) + 1;
  std::uint8_t* __restrict out = rows.out;
  const std::int64_t count = rows.count;
  for (std::int64_t x = 0; x < count; ++x) {
    T most = further<Largest>(further<Largest>(here[x - 1], here[x + 1]),
                              further<Largest>(over[x], under[x]));
    if (Corners::value) {
      const T corners = further<Largest>(further<Largest>(over[x - 1], over[x + 1]),
                                         further<Largest>(under[x - 1], under[x + 1]));
      most = further<Largest>(most, corners);
    }
    out[x] = Largest::value ? here[x] >= most : here[x] <= most;
  }
}
IMPIPE_CPU_KERNEL(peaks, (const PeakRows& rows), (rows))

// 1 when the neighbour is equal and no peak; bytes throughout, which compilers make vectors of.
template <class T>
IMPIPE_INLINE std::uint8_t lost_to(T neighbour, std::uint8_t is_peak, T v) {
  const std::uint8_t equal = neighbour == v ? 1 : 0;
  return static_cast<std::uint8_t>(equal & ~is_peak);
}

template <class T, class Corners>
IMPIPE_INLINE void lost_peaks_body(const PeakRows& rows) {
  const T* __restrict over = static_cast<const T*>(rows.pixels[0]) + 1;
  const T* __restrict here = static_cast<const T*>(rows.pixels[1]) + 1;
  const T* __restrict under = static_cast<const T*>(rows.pixels[2]) + 1;
  const std::uint8_t* __restrict peak_over = rows.peaks[0] + 1;
  const std::uint8_t* __restrict peak = rows.peaks[1] + 1;
  const std::uint8_t* __restrict peak_under = rows.peaks[2] + 1;
  std::uint8_t* __restrict out = rows.out;
  const std::int64_t count = rows.count;
  for (std::int64_t x = 0; x < count; ++x) {
    const T v = here[x];
    std::uint8_t lost = lost_to(here[x - 1], peak[x - 1], v);
    lost |= lost_to(here[x + 1], peak[x + 1], v);
    lost |= lost_to(over[x], peak_over[x], v);
    lost |= lost_to(under[x], peak_under[x], v);
    if (Corners::value) {
      lost |= lost_to(over[x - 1], peak_over[x - 1], v);
      lost |= lost_to(over[x + 1], peak_over[x + 1], v);
      lost |= lost_to(under[x - 1], peak_under[x - 1], v);
      lost |= lost_to(under[x + 1], peak_under[x + 1], v);
    }
    out[x] = lost & peak[x];
  }
}
IMPIPE_CPU_KERNEL(lost_peaks, (const PeakRows& rows), (rows))

template <class T>
void mark_peaks_of(const PeakKind& kind, const PeakRows& rows, CpuLevel level) {
  using std::false_type, std::true_type;
  const int at = static_cast<int>(level);
  if (kind.largest) {
    (kind.corners ? peaks<T, true_type, true_type> : peaks<T, true_type, false_type>)[at](rows);
  } else {
    (kind.corners ? peaks<T, false_type, true_type> : peaks<T, false_type, false_type>)[at](rows);
  }
}

template <class T>
void mark_lost_peaks_of(const PeakKind& kind, const PeakRows& rows, CpuLevel level) {
  const int at = static_cast<int>(level);
  (kind.corners ? lost_peaks<T, std::true_type> : lost_peaks<T, std::false_type>)[at](rows);
}

}  // namespace

void find_set(PixelClass cls, const std::byte* pixels, std::int64_t count, std::uint8_t* bytes,
              CpuLevel level) {
  with_pixel(cls, [&](auto pixel) {
    set<decltype(pixel)>[static_cast<int>(level)](pixels, count, bytes);
  });
}

void mark_peaks(const PeakKind& kind, const PeakRows& rows, CpuLevel level) {
  with_pixel(kind.cls, [&](auto pixel) { mark_peaks_of<decltype(pixel)>(kind, rows, level); });
}

void mark_lost_peaks(const PeakKind& kind, const PeakRows& rows, CpuLevel level) {
  with_pixel(kind.cls, [&](auto pixel) { mark_lost_peaks_of<decltype(pixel)>(kind, rows, level); });
}

}  // namespace impipe::cpu
