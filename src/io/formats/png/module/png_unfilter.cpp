// Undoes the filters of PNG. A byte under Paeth's filter waits for the one on its left, but not for
// those of the rows below: sixteen rows are undone together, each a pixel behind the one above it,
// a row in each lane of a vector.
#include "io/formats/png/module/png_unfilter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "core/body.hpp"
#include "core/has_v3.hpp"
#include "io/formats/png/module/png_filter.hpp"

namespace impipe::io {
namespace {

using Byte = std::uint8_t;
constexpr int lanes = unfiltered_rows;

// The bytes of a pixel, each in a lane of its own: a pixel waits for the one on its left, so what
// is gained is gained within one.
using PixelLanes = short __attribute__((vector_size(16)));
using PixelBytes = Byte __attribute__((vector_size(8)));

// Bytes in two parts, put together in a register: what is stored in parts and loaded whole waits.
template <int bytes>
std::uint64_t load_bytes(const Byte* from) {
  constexpr int low = bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
  std::uint64_t word = 0;
  if constexpr (bytes == 8) {
    std::memcpy(&word, from, 8);
  } else if constexpr (bytes == low) {
    std::conditional_t<low == 4, std::uint32_t, std::conditional_t<low == 2, std::uint16_t, Byte>>
        part;
    std::memcpy(&part, from, low);
    word = part;
  } else {
    word = load_bytes<low>(from) | load_bytes<bytes - low>(from + low) << (8 * low);
  }
  return word;
}

template <int pixel>
PixelLanes load_pixel(const Byte* from) {
  return __builtin_convertvector(std::bit_cast<PixelBytes>(load_bytes<pixel>(from)), PixelLanes);
}
PixelLanes magnitude(PixelLanes v) { return v < 0 ? -v : v; }

template <int pixel>
void undo_paeth(const Byte* from, Byte* to, const Byte* above, std::int64_t begin,
                std::int64_t end) {
  PixelLanes left = {}, corner = {};
  if (begin > 0) {
    left = load_pixel<pixel>(to + begin - pixel);
    corner = load_pixel<pixel>(above + begin - pixel);
  }
  for (std::int64_t i = begin; i < end; i += pixel) {
    const PixelLanes top = load_pixel<pixel>(above + i);
    const PixelLanes rise = top - corner, run = left - corner;
    const PixelLanes from_left = magnitude(rise), from_top = magnitude(run);
    const PixelLanes from_corner = magnitude(rise + run);
    const PixelLanes other = from_top <= from_corner ? top : corner;
    const PixelLanes nearest = from_left <= from_top && from_left <= from_corner ? left : other;
    left = (load_pixel<pixel>(from + i) + nearest) & 255;
    corner = top;
    const auto word = std::bit_cast<std::uint64_t>(__builtin_convertvector(left, PixelBytes));
    std::memcpy(to + i, &word, pixel);
  }
}

// Bytes [begin, end) of a row, whole pixels; those before are there.
template <int pixel>
void unfilter_row(PngFilter filter, const Byte* from, Byte* to, const Byte* above,
                  std::int64_t begin, std::int64_t end) {
  Byte left[pixel] = {};
  if (begin > 0) std::memcpy(left, to + begin - pixel, pixel);
  switch (filter) {
    case PngFilter::none:
      if (to != from) std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
      return;
    case PngFilter::sub:
      for (std::int64_t i = begin; i < end; i += pixel) {
        for (int b = 0; b < pixel; ++b) {
          to[i + b] = left[b] = static_cast<Byte>(from[i + b] + left[b]);
        }
      }
      return;
    case PngFilter::up:
      for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<Byte>(from[i] + above[i]);
      return;
    case PngFilter::average:
      for (std::int64_t i = begin; i < end; i += pixel) {
        for (int b = 0; b < pixel; ++b) {
          to[i + b] = left[b] = static_cast<Byte>(from[i + b] + ((left[b] + above[i + b]) >> 1));
        }
      }
      return;
    case PngFilter::paeth: undo_paeth<pixel>(from, to, above, begin, end); return;
  }
}

// A byte of each of the sixteen rows.
using Column = Byte __attribute__((vector_size(lanes)));

IMPIPE_INLINE Column load_column(const Byte* from) {
  Column out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

// Rows of sixteen bytes as columns, and back.
IMPIPE_INLINE void transpose(std::array<Column, lanes>& block) {
  for (int round = 0; round < 4; ++round) {
    std::array<Column, lanes> next;
    for (std::size_t i = 0; i < lanes / 2; ++i) {
      const Column a = block[i], b = block[i + lanes / 2];
      next[2 * i] =
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                14, 30, 15, 31);
    }
    block = next;
  }
}

IMPIPE_INLINE Column larger(Column a, Column b) { return a > b ? a : b; }
IMPIPE_INLINE Column smaller(Column a, Column b) { return a < b ? a : b; }
IMPIPE_INLINE Column apart(Column a, Column b) { return larger(a, b) - smaller(a, b); }

// See png_filter.cpp.
IMPIPE_INLINE Column nearest(Column left, Column above, Column corner) {
  const Column from_left = apart(above, corner);
  const Column from_above = apart(left, corner);
  const auto far = (above >= corner) == (left >= corner);
  const Column from_corner = apart(from_left, from_above) | std::bit_cast<Column>(far);
  const Column other = from_above <= from_corner ? above : corner;
  return smaller(from_above, from_corner) >= from_left ? left : other;
}

// Whether all rows have one filter.
enum class Rows { mixed, all_average, all_paeth };

// Which lanes have which filter: all bits or none.
struct FilterLanes {
  Column sub = {}, up = {}, average = {}, paeth = {};
};

template <Rows rows>
IMPIPE_INLINE Column predicted(const FilterLanes& filters, Column left, Column above,
                               Column corner) {
  if constexpr (rows == Rows::all_paeth) return nearest(left, above, corner);
  // The mean rounded down, in bytes.
  const Column mean = (left & above) + ((left ^ above) >> 1);
  if constexpr (rows == Rows::all_average) return mean;
  return (filters.sub & left) | (filters.up & above) | (filters.average & mean) |
         (filters.paeth & nearest(left, above, corner));
}

// Rows of a block, and where row r begins.
struct Block {
  const Byte* from;
  std::int64_t from_stride;
  Byte* to;
  std::int64_t to_stride;
  const Byte* above;
  const Byte* stored(std::int64_t r) const { return from + r * from_stride; }
  Byte* made(std::int64_t r) const { return to + r * to_stride; }
};

// Bytes [lanes - 1 pixels, end) of the first row and, a pixel further back each, of the others;
// what lies before is there. Sixteen steps at a time; returns how far the first row came.
template <int pixel, Rows rows>
IMPIPE_INLINE std::int64_t undo_columns(const Block& b, const FilterLanes& filters,
                                        std::int64_t end) {
  constexpr std::int64_t begin = pixel * (lanes - 1);
  // What the last pixel's steps made, and what was above it; then sixteen steps more.
  std::array<Column, lanes + pixel> made = {}, tops = {};
  for (int r = 0; r < lanes; ++r) {
    for (int j = 0; j < pixel; ++j) {
      const std::int64_t x = begin - pixel * r - pixel + j;
      if (x < 0) continue;
      made[static_cast<std::size_t>(j)][r] = b.made(r)[x];
      tops[static_cast<std::size_t>(j)][r] = r == 0 ? b.above[x] : b.made(r - 1)[x];
    }
  }
  // A multiple of three blocks, so that the bytes after them begin with a whole pixel.
  std::int64_t blocks = (end - begin) / lanes;
  if (lanes % pixel != 0) blocks -= blocks % 3;
  std::int64_t t = begin;
  for (; blocks > 0; --blocks, t += lanes) {
    std::array<Column, lanes> block;
    for (int r = 0; r < lanes; ++r)
      block[static_cast<std::size_t>(r)] = load_column(b.stored(r) + t - pixel * r);
    transpose(block);
    for (std::size_t s = 0; s < lanes; ++s) {
      const Column left = made[s];
      Column above =
          __builtin_shufflevector(left, left, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
      above[0] = b.above[t + static_cast<std::int64_t>(s)];
      const Column guess = predicted<rows>(filters, left, above, tops[s]);
      tops[s + pixel] = above;
      made[s + pixel] = block[s] + guess;
      block[s] = made[s + pixel];
    }
    std::copy_n(made.begin() + lanes, pixel, made.begin());
    std::copy_n(tops.begin() + lanes, pixel, tops.begin());
    transpose(block);
    for (int r = 0; r < lanes; ++r) {
      std::memcpy(b.made(r) + t - pixel * r, &block[static_cast<std::size_t>(r)], lanes);
    }
  }
  return t;
}

using Undo = std::int64_t (*)(const Block&, const FilterLanes&, std::int64_t);

template <int pixel, Rows rows>
std::int64_t undo_baseline(const Block& b, const FilterLanes& filters, std::int64_t end) {
  return undo_columns<pixel, rows>(b, filters, end);
}
template <int pixel, Rows rows>
IMPIPE_TARGET_v3 std::int64_t undo_v3(const Block& b, const FilterLanes& filters,
                                      std::int64_t end) {
  return undo_columns<pixel, rows>(b, filters, end);
}

template <int pixel, Rows rows>
Undo undo_for() {
  return has_v3() ? undo_v3<pixel, rows> : undo_baseline<pixel, rows>;
}

template <int pixel>
void undo_together(const Block& b, const std::array<PngFilter, lanes>& filters,
                   std::int64_t count) {
  FilterLanes of_lane;
  bool all_paeth = true, all_average = true;
  for (int r = 0; r < lanes; ++r) {
    const PngFilter filter = filters[static_cast<std::size_t>(r)];
    of_lane.sub[r] = filter == PngFilter::sub ? 255 : 0;
    of_lane.up[r] = filter == PngFilter::up ? 255 : 0;
    of_lane.average[r] = filter == PngFilter::average ? 255 : 0;
    of_lane.paeth[r] = filter == PngFilter::paeth ? 255 : 0;
    all_paeth = all_paeth && filter == PngFilter::paeth;
    all_average = all_average && filter == PngFilter::average;
  }
  const auto row = [&](int r, std::int64_t begin, std::int64_t end) {
    unfilter_row<pixel>(filters[static_cast<std::size_t>(r)], b.stored(r), b.made(r),
                        r == 0 ? b.above : b.made(r - 1), begin, end);
  };
  for (int r = 0; r < lanes; ++r) row(r, 0, pixel * (lanes - 1 - r));
  const Undo undo = all_paeth     ? undo_for<pixel, Rows::all_paeth>()
                    : all_average ? undo_for<pixel, Rows::all_average>()
                                  : undo_for<pixel, Rows::mixed>();
  const std::int64_t done = undo(b, of_lane, count);
  for (int r = 0; r < lanes; ++r) row(r, done - pixel * r, count);
}

// Whether rows wait for their own pixels so often that undoing them together pays.
bool is_worth_it(const std::array<PngFilter, lanes>& filters) {
  return std::count_if(filters.begin(), filters.end(), [](PngFilter filter) {
           return filter == PngFilter::average || filter == PngFilter::paeth;
         }) >= lanes / 4;
}

template <int pixel>
bool unfilter(const FilteredRowsIn& from, Byte* to, std::int64_t to_stride, const Byte* above) {
  std::array<PngFilter, lanes> filters = {};
  for (std::int64_t r = 0; r < from.rows; ++r) {
    const Byte filter = from.first[r * from.stride];
    if (filter >= png_filters) return false;
    filters[static_cast<std::size_t>(r)] = static_cast<PngFilter>(filter);
  }
  const Block block{from.first + 1, from.stride, to, to_stride, above};
  const bool is_wide = from.count >= pixel * (lanes - 1) + 2 * lanes;
  if (from.rows == lanes && is_wide && is_worth_it(filters)) {
    undo_together<pixel>(block, filters, from.count);
    return true;
  }
  for (std::int64_t r = 0; r < from.rows; ++r) {
    unfilter_row<pixel>(filters[static_cast<std::size_t>(r)], block.stored(r), block.made(r),
                        r == 0 ? above : block.made(r - 1), 0, from.count);
  }
  return true;
}

}  // namespace

bool unfilter_rows(const FilteredRowsIn& from, std::uint8_t* to, std::int64_t to_stride,
                   const std::uint8_t* above, std::int64_t pixel) {
  switch (pixel) {
    case 1: return unfilter<1>(from, to, to_stride, above);
    case 2: return unfilter<2>(from, to, to_stride, above);
    case 3: return unfilter<3>(from, to, to_stride, above);
    case 4: return unfilter<4>(from, to, to_stride, above);
    case 6: return unfilter<6>(from, to, to_stride, above);
    default: return unfilter<8>(from, to, to_stride, above);
  }
}

}  // namespace impipe::io
