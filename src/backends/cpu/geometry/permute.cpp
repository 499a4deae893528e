// Flips and transposition of a tile.
#include "backends/cpu/geometry/permute.hpp"

#include <cstring>

#include "backends/cpu/geometry/pick_rows.hpp"
#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/tile/rows.hpp"

namespace impipe::cpu {
namespace {

template <int Bytes>
struct Pixel {
  std::byte bytes[Bytes];
};

// out row y, column x = in[y * down + x * across], steps in bytes.
template <int Bytes>
void move_pixels(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t down,
                 std::int64_t across, std::int64_t width, std::int64_t height) {
  using P = Pixel<Bytes>;
  for (std::int64_t y = 0; y < height; ++y) {
    P* to = reinterpret_cast<P*>(out + y * out_stride);
    const std::byte* from = in + y * down;
    for (std::int64_t x = 0; x < width; ++x) {
      std::memcpy(&to[x], from + x * across, Bytes);
    }
  }
}

#if IMPIPE_HAS_INTRINSICS
// Interleaves rows k and k + half, of bytes (16 rows) or words (8).
inline void interleave_rows(const __m128i (&from)[16], __m128i (&to)[16]) {
  for (int k = 0; k < 8; ++k) {
    to[2 * k] = _mm_unpacklo_epi8(from[k], from[k + 8]);
    to[2 * k + 1] = _mm_unpackhi_epi8(from[k], from[k + 8]);
  }
}
inline void interleave_rows(const __m128i (&from)[8], __m128i (&to)[8]) {
  for (int k = 0; k < 4; ++k) {
    to[2 * k] = _mm_unpacklo_epi16(from[k], from[k + 4]);
    to[2 * k + 1] = _mm_unpackhi_epi16(from[k], from[k + 4]);
  }
}

// Transposes a block whose rows are 16 bytes, in registers. SSE2, which every x86-64 has, is as
// fast as memory here.
template <int Bytes>
struct Block {};

template <>
struct Block<1> {
  static constexpr int side = 16;
  static void transpose(__m128i (&r)[16]) {
    __m128i t[16];
    interleave_rows(r, t);
    interleave_rows(t, r);
    interleave_rows(r, t);
    interleave_rows(t, r);
  }
};

template <>
struct Block<2> {
  static constexpr int side = 8;
  static void transpose(__m128i (&r)[8]) {
    __m128i t[8];
    interleave_rows(r, t);
    interleave_rows(t, r);
    interleave_rows(r, t);
    for (int k = 0; k < 8; ++k) r[k] = t[k];
  }
};

template <>
struct Block<4> {
  static constexpr int side = 4;
  static void transpose(__m128i (&r)[4]) {
    const __m128i a = _mm_unpacklo_epi32(r[0], r[2]), b = _mm_unpackhi_epi32(r[0], r[2]);
    const __m128i c = _mm_unpacklo_epi32(r[1], r[3]), d = _mm_unpackhi_epi32(r[1], r[3]);
    r[0] = _mm_unpacklo_epi32(a, c);
    r[1] = _mm_unpackhi_epi32(a, c);
    r[2] = _mm_unpacklo_epi32(b, d);
    r[3] = _mm_unpackhi_epi32(b, d);
  }
};

// Output rows y to y + side of a transposition: input columns side by side, across is from one
// input row to the next.
template <int Bytes>
void transpose_rows(std::byte* out, std::int64_t out_stride, const std::byte* in,
                    std::int64_t across, std::int64_t width) {
  constexpr int side = Block<Bytes>::side;
  for (std::int64_t x = 0; x + side <= width; x += side) {
    __m128i r[side];
    for (int k = 0; k < side; ++k) {
      r[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + (x + k) * across));
    }
    Block<Bytes>::transpose(r);
    for (int k = 0; k < side; ++k) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * out_stride + x * Bytes), r[k]);
    }
  }
}
#endif

// A transposition: `across` and `down` are steps through the input for an output column and row.
template <int Bytes>
void transpose_pixels(std::byte* out, std::int64_t out_stride, const std::byte* in,
                      std::int64_t down, std::int64_t across, std::int64_t width,
                      std::int64_t height) {
  std::int64_t y = 0;
#if IMPIPE_HAS_INTRINSICS
  constexpr int side = Block<Bytes>::side;
  for (; y + side <= height; y += side) {
    const std::byte* from = in + y * down;
    std::byte* to = out + y * out_stride;
    if (down > 0) {
      transpose_rows<Bytes>(to, out_stride, from, across, width);
    } else {
      // The rows of the result upside down: from the last to the first.
      transpose_rows<Bytes>(to + (side - 1) * out_stride, -out_stride, from + (side - 1) * down,
                            across, width);
    }
    const std::int64_t done = width / side * side;
    move_pixels<Bytes>(to + done * Bytes, out_stride, from + done * across, down, across,
                       width - done, side);
  }
#endif
  // Blocks keep the lines of the input in L1.
  constexpr std::int64_t block = 16;
  for (; y < height; y += block) {
    const std::int64_t rows = std::min(block, height - y);
    for (std::int64_t x = 0; x < width; x += block) {
      move_pixels<Bytes>(out + y * out_stride + x * Bytes, out_stride, in + y * down + x * across,
                         down, across, std::min(block, width - x), rows);
    }
  }
}

template <int Bytes>
void permute_pixels(const Permute& permute, std::byte* out, std::int64_t out_stride,
                    const std::byte* in, std::int64_t down, std::int64_t across, std::int64_t width,
                    std::int64_t height, bool far, bool spills, CpuLevel level) {
  if (permute.transpose) {
    transpose_pixels<Bytes>(out, out_stride, in, down, across, width, height);
    return;
  }
  const std::int64_t to_first = permute.flip_x ? (width - 1) * across : 0;  // pixel in memory
  for (std::int64_t y = 0; y < height; ++y) {
    std::byte* to = out + y * out_stride;
    const std::byte* from = in + y * down;
    if (far && y + rows_ahead < height) {
      ask_for(from + rows_ahead * down + to_first, width * Bytes);
    }
    if (!permute.flip_x) {
      if (spills) {
        stream_row(to, from, width * Bytes, level);
      } else {
        std::memcpy(to, from, static_cast<std::size_t>(width * Bytes));
      }
      continue;
    }
    reverse_row(to, from, width, Bytes, level);
  }
}

}  // namespace

void run_permute(const Permute& permute, const TileImage& in, const Region& region, TileOut out,
                 CpuLevel level) {
  const Region from = permuted(permute, region, in.size);
  const std::int64_t pixel = in.pixel_bytes();
  // Steps through the input for one output column and one output row.
  std::int64_t across = permute.transpose ? in.stride : pixel;
  std::int64_t down = permute.transpose ? pixel : in.stride;
  std::int64_t x = from.x0, y = from.y0;  // under the output's first pixel
  if (permute.flip_x) {
    across = -across;
    (permute.transpose ? y : x) = (permute.transpose ? from.y1 : from.x1) - 1;
  }
  if (permute.flip_y) {
    down = -down;
    (permute.transpose ? x : y) = (permute.transpose ? from.x1 : from.y1) - 1;
  }
  const auto move = [&](auto function) {
    function(permute, out.data, out.stride, in.at(x, y), down, across, region.width(),
             region.height(), in.far, out.spills, level);
  };
  switch (pixel) {
    case 1: return move(permute_pixels<1>);
    case 2: return move(permute_pixels<2>);
    default: return move(permute_pixels<4>);
  }
}

}  // namespace impipe::cpu
