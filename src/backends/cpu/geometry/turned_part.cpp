// The part of an input that a block of an affine map reads, copied to where the first cache has it.
#include "backends/cpu/geometry/turned_part.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace impipe::cpu {
namespace {

template <int n>
using Count = std::integral_constant<int, n>;

// A multiple of the vector width in pixels; the last block of a row overlaps the one before.
constexpr std::int64_t block = 16;

// Pixels [i, i + n) of several rows become words, the first row's lowest.
template <class T, class Word, int count>
IMPIPE_INLINE void merge_block(Word* __restrict to, const std::byte* const* rows, std::int64_t i,
                               std::int64_t n) {
  constexpr int bits = count > 1 ? 8 * sizeof(T) : 0;
  const auto row = [&](int c) { return reinterpret_cast<const T*>(rows[c < count ? c : 0]) + i; };
  const T* __restrict a = row(0);
  const T* __restrict b = row(1);
  const T* __restrict c = row(2);
  const T* __restrict d = row(3);
  for (std::int64_t k = 0; k < n; ++k) {
    Word word = a[k];
    if constexpr (count > 1) word = static_cast<Word>(word | static_cast<Word>(Word{b[k]} << bits));
    if constexpr (count > 2) word |= Word{c[k]} << 2 * bits;
    if constexpr (count > 3) word |= Word{d[k]} << 3 * bits;
    to[i + k] = word;
  }
}
template <class T, class Word, class Count>
IMPIPE_INLINE void merge_rows_body(void* out, const std::byte* const* rows, std::int64_t n) {
  Word* to = static_cast<Word*>(out);
  constexpr int count = Count::value;
  std::int64_t i = 0;
  for (; i + block <= n; i += block) {
    merge_block<T, Word, count>(to, rows, i, block);
    // Else the compiler makes of three rows what needs four blocks, which few rows have.
    if constexpr (count > 2) __asm__ volatile("" ::: "memory");
  }
  if (i == n) return;
  if (n < block) return merge_block<T, Word, count>(to, rows, 0, n);
  merge_block<T, Word, count>(to, rows, n - block, block);
}
IMPIPE_CPU_KERNEL(merge_rows, (void* out, const std::byte* const* rows, std::int64_t n),
                  (out, rows, n))

using Merge = void (*)(void* out, const std::byte* const* rows, std::int64_t n);
template <class T, class Word>
Merge merge_of(int count, CpuLevel level) {
  const int l = static_cast<int>(level);
  const Merge kernels[4] = {merge_rows<T, Word, Count<1>>[l], merge_rows<T, Word, Count<2>>[l],
                            merge_rows<T, Word, Count<3>>[l], merge_rows<T, Word, Count<4>>[l]};
  return kernels[count - 1];
}
Merge merge_of(PartWord word, int channels, int pixel_bytes, CpuLevel level) {
  using Byte = std::uint8_t;
  using Short = std::uint16_t;
  using Long = std::uint32_t;
  using Longest = std::uint64_t;
  const int l = static_cast<int>(level);
  if (word == PartWord::channels) {
    return pixel_bytes == 1 ? merge_of<Byte, Long>(channels, level)
                            : merge_of<Short, Longest>(channels, level);
  }
  const bool one = word == PartWord::pixel;
  if (word == PartWord::column) return merge_of<Byte, Long>(4, level);
  if (pixel_bytes == 1)
    return (one ? merge_rows<Byte, Byte, Count<1>> : merge_rows<Byte, Short, Count<2>>)[l];
  if (pixel_bytes == 2)
    return (one ? merge_rows<Short, Short, Count<1>> : merge_rows<Short, Long, Count<2>>)[l];
  return (one ? merge_rows<Long, Long, Count<1>> : merge_rows<Long, Longest, Count<2>>)[l];
}

template <class T, class Word, class Channel>
IMPIPE_INLINE void split_body(const std::byte* in, std::byte* out, std::int64_t n) {
  const Word* __restrict from = reinterpret_cast<const Word*>(in);
  T* __restrict to = reinterpret_cast<T*>(out);
  constexpr int bits = 8 * sizeof(T) * Channel::value;
  std::int64_t i = 0;
  for (; i + block <= n; i += block) {
    for (std::int64_t k = 0; k < block; ++k) to[i + k] = static_cast<T>(from[i + k] >> bits);
  }
  for (; i < n; ++i) to[i] = static_cast<T>(from[i] >> bits);
}
IMPIPE_CPU_KERNEL(split, (const std::byte* in, std::byte* out, std::int64_t n), (in, out, n))
using Split = void (*)(const std::byte* in, std::byte* out, std::int64_t n);
template <class T, class Word>
Split split_of(int channel, CpuLevel level) {
  const int l = static_cast<int>(level);
  const Split kernels[4] = {split<T, Word, Count<0>>[l], split<T, Word, Count<1>>[l],
                            split<T, Word, Count<2>>[l], split<T, Word, Count<3>>[l]};
  return kernels[channel];
}

Place place_of(const AffinePlace& p, std::int64_t u, std::int64_t v) {
  const double across = static_cast<double>(u), down = static_cast<double>(v);
  return {p.a * across + p.b * down + p.c, p.d * across + p.e * down + p.f};
}

constexpr std::int64_t line = 64, max_columns_read = 512;
constexpr std::int64_t mirrored_pixels = 2;  // what a place on the image reads beside it

}  // namespace

TurnedPart::TurnedPart(const AffinePlace& place, const Region& block, Size in, int pixel_bytes,
                       PartWord word, int around)
    : in_(in),
      word_(word),
      word_bytes_(pixel_bytes * pixels_of(word)),
      below_(word == PartWord::below    ? 1
             : word == PartWord::column ? 3
                                        : 0) {
  double left = HUGE_VAL, top = HUGE_VAL, right = -HUGE_VAL, bottom = -HUGE_VAL;
  for (const std::int64_t u : {block.x0, block.x1 - 1}) {
    for (const std::int64_t v : {block.y0, block.y1 - 1}) {
      const Place at = place_of(place, u, v);
      left = std::min(left, at.x);
      right = std::max(right, at.x);
      top = std::min(top, at.y);
      bottom = std::max(bottom, at.y);
    }
  }
  // Also false where a place is NaN. Less than the rows that from_ and end_ are for, by the rest of
  // the region.
  constexpr double most = max_rows_read - 8, far = 1 << 30;
  if (!(right - left < most && bottom - top < most && std::abs(left) < far &&
        std::abs(top) < far)) {
    return;
  }
  // Neighbours, and what rounding may add.
  const auto whole = [](double x) { return static_cast<std::int64_t>(std::floor(x)); };
  region_ = {whole(left) - 1 - around, whole(top) - 1 - around, whole(right) + 3 + around,
             whole(bottom) + 3 + around};
  const std::int64_t lines = (region_.width() * word_bytes_ + line - 1) / line;
  const std::int64_t stride = (lines | 1) * line;
  if (stride * region_.height() > room) return;
  stride_ = stride;
  // Back from places to output pixels: u = (e (x - c) - b (y - f)) / det, and v alike.
  const double det = place.a * place.e - place.b * place.d;
  const double u0 = place.b * place.f - place.e * place.c;
  const double v0 = place.d * place.c - place.a * place.f;
  find_ends(side_of(place.e / det, -place.b / det, u0 / det, block.x0, block.x1 - 1),
            side_of(-place.d / det, place.a / det, v0 / det, block.y0, block.y1 - 1));
}

void TurnedPart::find_ends(const Side& one, const Side& other) {
  const double left = static_cast<double>(region_.x0), right = static_cast<double>(region_.x1);
  const auto n = static_cast<int>(region_.height());
  for (int i = 0; i < n; ++i) {
    const double y = static_cast<double>(region_.y0) + i;
    const double a = one.at + one.step * y, b = other.at + other.step * y;
    const double low = std::max(std::max(a + one.below, b + other.below), left);
    const double high = std::min(std::min(a + one.above, b + other.above), right);
    // Towards 0: a column more than is read at most.
    from_[i] = static_cast<std::int32_t>(std::min(low, right));
    end_[i] = static_cast<std::int32_t>(std::max(high, left));
  }
}

// An output column or row is from_x x + from_y y + at: for the first and the last one of a block
// this gives the x of a row y. No bounds where that hardly depends on x.
TurnedPart::Side TurnedPart::side_of(double from_x, double from_y, double at, std::int64_t first,
                                     std::int64_t last) {
  constexpr double least = 1e-3, most = 1e3;
  if (!(std::abs(from_x) > least && std::abs(from_x) < most && std::abs(from_y) < most)) return {};
  const double step = -from_y / from_x;
  const double one = (static_cast<double>(first) - at) / from_x;
  const double other = (static_cast<double>(last) - at) / from_x;
  // Pixels of a row are for places from two rows above it to two below, and from two columns before
  // them to two behind.
  const double margin = 2 * std::abs(step) + 3.5;
  return {.at = std::min(one, other),
          .step = step,
          .below = -margin,
          .above = std::abs(one - other) + margin};
}

bool TurnedPart::is_outside() const {
  return region_.x1 <= 0 || region_.x0 >= in_.width || region_.y1 + below_ <= 0 ||
         region_.y0 >= in_.height;
}

void TurnedPart::copy(std::span<const Plane* const> in, PartFrame frame, const std::byte* outside,
                      std::byte* memory, CpuLevel level) const {
  const int pixel = bytes_of(in[0]->cls());
  const Merge merge = merge_of(word_, static_cast<int>(in.size()), pixel, level);
  alignas(64) std::byte nothing[max_columns_read * sizeof(float)];
  const bool inside = region_.x0 >= 0 && region_.y0 >= 0 && region_.x1 <= in_.width &&
                      region_.y1 + below_ <= in_.height;
  fill_row(nothing, outside, pixel, inside ? 1 : region_.width());
  const std::byte* const beside[4] = {nothing, nothing, nothing, nothing};
  merge(memory + room, beside, 1);
  const bool mirrored = frame == PartFrame::mirrored;
  const int used = std::max(below_ + 1, static_cast<int>(in.size()));  // rows of a word
  const auto is_near = [&](std::int64_t place, std::int64_t n) {
    return place >= -mirrored_pixels && place < n + mirrored_pixels;
  };
  std::byte* to = memory - region_.x0 * word_bytes_;
  for (std::int64_t y = region_.y0; y < region_.y1; ++y, to += stride_) {
    const std::int64_t first = from_[y - region_.y0], last = end_[y - region_.y0];
    if (first >= last) continue;
    const auto row_of = [&](const Plane& plane, std::int64_t line) -> const std::byte* {
      if (line >= 0 && line < in_.height) return plane.row(line);
      if (!mirrored || !is_near(line, in_.height)) return nullptr;
      return plane.row(map_outside(line, in_.height, Border::symmetric));
    };
    // Nothing where there is no row.
    const std::byte* starts[4] = {row_of(*in[0], y), nullptr, nullptr, nullptr};
    for (int k = 1; k <= below_; ++k) starts[k] = row_of(*in[0], y + k);
    for (std::size_t c = 1; c < in.size(); ++c) starts[c] = row_of(*in[c], y);
    const auto put = [&](std::int64_t at, std::int64_t column, std::int64_t n) {
      const std::byte* rows[4];
      for (int k = 0; k < used; ++k) {
        rows[k] = starts[k] == nullptr ? nothing : starts[k] + column * pixel;
      }
      merge(to + at * word_bytes_, rows, n);
    };
    const std::int64_t from = std::clamp<std::int64_t>(0, first, last);
    const std::int64_t end = std::clamp(in_.width, from, last);
    put(from, from, end - from);
    if (first < from) merge(to + first * word_bytes_, beside, from - first);
    if (end < last) merge(to + end * word_bytes_, beside, last - end);
    for (std::int64_t x = first; mirrored && x < last; ++x) {
      if (x == from) x = std::min(end, last);
      if (x < last && is_near(x, in_.width)) {
        put(x, map_outside(x, in_.width, Border::symmetric), 1);
      }
    }
  }
}

void fill_row(std::byte* out, const std::byte* pixel, int pixel_bytes, std::int64_t n) {
  const auto fill = [&](auto value) {
    std::memcpy(&value, pixel, sizeof value);
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * pixel_bytes, &value, sizeof value);
  };
  if (pixel_bytes == 1) return fill(std::uint8_t{});
  if (pixel_bytes == 2) return fill(std::uint16_t{});
  fill(std::uint32_t{});
}

void split_words(const std::byte* words, std::byte* out, int channel, int pixel_bytes,
                 std::int64_t n, CpuLevel level) {
  (pixel_bytes == 1 ? split_of<std::uint8_t, std::uint32_t>(channel, level)
                    : split_of<std::uint16_t, std::uint64_t>(channel, level))(words, out, n);
}

}  // namespace impipe::cpu
