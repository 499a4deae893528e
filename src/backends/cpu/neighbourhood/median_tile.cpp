// Medians of 3x3 and 5x5 windows, tile by tile.
#include "backends/cpu/neighbourhood/median_tile.hpp"

#include <algorithm>
#include <type_traits>

#include "backends/cpu/neighbourhood/rank_keys.hpp"
#include "backends/cpu/neighbourhood/rank_median.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// What windows share is kept for as many pixels as L1 has room for.
constexpr std::int64_t strip_bytes = 1024;
constexpr std::int64_t pairs_strip_bytes = 512;

// Where rows of results are made: where they go or, where they spill, in one of two rows that are
// then streamed. Streamed as they are made, they are half lines, which takes longer.
template <class T>
class ResultRows {
 public:
  // longest: what is made of a row at a time.
  ResultRows(TileOut out, std::int64_t longest, Scratch& scratch, CpuLevel level)
      : out_(out), level_(level) {
    if (!out.spills) return;
    for (T*& row : made_) row = scratch.take<T>(longest);
  }

  T* place(std::int64_t y, std::int64_t x) const { return out_.spills ? made_[y % 2] : at(y, x); }
  // Asks for where n results will go.
  void ask_for(std::int64_t y, std::int64_t x, std::int64_t n) const {
    if (out_.spills) return;
    cpu::ask_for(at(y, x), n * static_cast<std::int64_t>(sizeof(T)));
  }
  // n results of row y from x on are made.
  void put(std::int64_t y, std::int64_t x, std::int64_t n) const {
    if (!out_.spills) return;
    stream_row(reinterpret_cast<std::byte*>(at(y, x)),
               reinterpret_cast<const std::byte*>(made_[y % 2]),
               n * static_cast<std::int64_t>(sizeof(T)), level_);
  }

 private:
  T* at(std::int64_t y, std::int64_t x) const {
    return reinterpret_cast<T*>(out_.data + y * out_.stride) + x;
  }

  TileOut out_;
  CpuLevel level_;
  T* made_[2] = {};
};

template <class T>
const T* row_of(const RowsView& in, std::int64_t k) {
  return reinterpret_cast<const T*>(in.rows[k]);
}

// What stands for a pixel beside the image.
template <class T>
T copied(const RowsView& in, std::int64_t k, std::int64_t place) {
  return place < 0 ? *reinterpret_cast<const T*>(in.beside) : row_of<T>(in, k)[place];
}

// Medians of 3x3: where rows lack what lies beside the image, their ends are worked on as copies
// that have it, and the rest in place.
template <class T>
class Median3x3 {
 public:
  Median3x3(const RowsView& in, TileOut out, const MedianRows<T>& ops, Scratch& scratch,
            CpuLevel level)
      : in_(in),
        results_(out, in.width, scratch, level),
        ops_(ops),
        keys_(rank_keys(level)),
        work_(scratch.take<T>(median_work(3, in.width))) {
    if (in.absent_left + in.absent_right == 0) return;
    part_ = ops.pixels;
    for (T*& row : ends_) row = scratch.take<T>(2 * (part_ + 2));
  }

  // False where a row has NaN.
  bool run() {
    std::int64_t checked = 0;
    for (std::int64_t y = 0; y < in_.height; ++y) {
      for (; checked < y + window; ++checked) {
        if (has_nan(checked)) return false;
      }
      for (; part_ > 0 && ends_made_ < y + window; ++ends_made_) make_ends(ends_made_);
      const std::int64_t n = in_.width;
      if (part_ == 0) {
        make(y, 0, n, [&](std::int64_t k) { return row_of<T>(in_, k) - 1; });
      } else {
        const auto end_of = [&](std::int64_t k) { return ends_[k % window]; };
        make(y, 0, part_, end_of);
        make(y, part_, n - 2 * part_,
             [&](std::int64_t k) { return row_of<T>(in_, k) + part_ - 1; });
        make(y, n - part_, part_, [&](std::int64_t k) { return end_of(k) + part_ + 2; });
      }
      results_.put(y, 0, n);
    }
    return true;
  }

 private:
  // A row is in a cache then for the results that need it.
  bool has_nan(std::int64_t k) const {
    if constexpr (!std::is_same_v<T, float>) return false;
    const auto* first = reinterpret_cast<const float*>(in_.rows[k]) - 1 + in_.absent_left;
    return keys_.any_nan(first, in_.width + 2 - in_.absent_left - in_.absent_right);
  }

  // Results [x, x + n) of row y, from rows that begin where from(k) says.
  template <class From>
  void make(std::int64_t y, std::int64_t x, std::int64_t n, From from) const {
    const T* rows[window];
    for (int j = 0; j < window; ++j) rows[j] = from(y + j);
    const std::int64_t k = y + 2 + rows_ahead;
    const T* ahead = in_.far && k < in_.height + 2 ? row_of<T>(in_, k) + x : rows[0];
    ops_.median_3x3(results_.place(y, 0) + x, rows, n, work_, ahead);
  }

  // The first and the last pixels of input row k, each with one more to both sides.
  void make_ends(std::int64_t k) {
    const T* row = row_of<T>(in_, k);
    T* first = ends_[k % window];
    T* last = first + part_ + 2;
    const std::int64_t n = in_.width;
    std::copy_n(row, part_ + 1, first + 1);
    std::copy_n(row + n - part_ - 1, part_ + 1, last);
    first[0] = in_.absent_left == 0 ? row[-1] : copied<T>(in_, k, in_.left_copies[0]);
    last[part_ + 1] = in_.absent_right == 0 ? row[n] : copied<T>(in_, k, in_.right_copies[0]);
  }

  static constexpr int window = 3;
  const RowsView& in_;
  ResultRows<T> results_;
  const MedianRows<T>& ops_;
  const RankKeys& keys_;
  T* work_;
  std::int64_t part_ = 0;       // pixels of the parts at the ends of rows; 0: rows are whole
  T* ends_[window] = {};        // both ends of input rows
  std::int64_t ends_made_ = 0;  // of so many rows
};

// Medians of 5x5 in strips, two rows of results at a time. Each input row is read once; of those
// that lack what lies beside the image, the strips at their ends are copies that have it.
template <class T>
class Median5x5 {
 public:
  Median5x5(const RowsView& in, TileOut out, const MedianRows<T>& ops, Scratch& scratch,
            CpuLevel level)
      : in_(in),
        results_(out, strip, scratch, level),
        pairs_(*ops.pairs_5x5),
        least_(ops.pixels),
        spare_(scratch.take<T>(strip)) {
    for (T*& pair : kept_) pair = scratch.take<T>(kept_of_pair(strip));
    for (T*& piece : pieces_) piece = scratch.take<T>(strip + 2 * reach);
  }

  void run() {
    for (std::int64_t x = 0; x < in_.width; x += strip) {
      x_ = std::min(x, in_.width - least_);
      n_ = std::min(strip, in_.width - x_);
      make_strip();
    }
  }

 private:
  static constexpr std::int64_t strip = pairs_strip_bytes / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t reach = 2;

  void make_strip() {
    pairs_.keep(kept_[0], row(0), row(0), n_);
    pairs_.keep(kept_[1], row(1), row(2), n_);
    pairs_.keep(kept_[2], row(3), row(4), n_);
    for (std::int64_t y = 0; y < in_.height; y += 2) {
      const std::int64_t turn = y / 2, soon = y + rows_ahead;
      const int count = y + 1 < in_.height ? 2 : 1;
      for (std::int64_t k = soon; k < std::min(soon + 2, in_.height); ++k) {
        results_.ask_for(k, x_, n_);
      }
      T* second = count == 2 ? results_.place(y + 1, x_) : spare_;
      pairs_.two_medians(results_.place(y, x_), second, kept_[turn % 3], kept_[(turn + 1) % 3],
                         kept_[(turn + 2) % 3], row(y + 5), row(y + 6), n_);
      for (int k = 0; k < count; ++k) results_.put(y + k, x_, n_);
    }
  }

  // Input row k, or the last one, at the first value under the strip's windows. Strips are too
  // short for processors to fetch ahead, from caches too.
  const T* row(std::int64_t k) {
    const std::int64_t last = in_.height + 2 * reach - 1;
    if (k + rows_ahead <= last) {
      ask_for(row_of<T>(in_, k + rows_ahead) + x_, n_ * static_cast<std::int64_t>(sizeof(T)));
    }
    k = std::min(k, last);
    const bool whole = x_ >= in_.absent_left && x_ + n_ <= in_.width - in_.absent_right;
    return whole ? row_of<T>(in_, k) + x_ - reach : piece(k);
  }

  const T* piece(std::int64_t k) {
    T* piece = pieces_[k % 2];
    const std::int64_t x0 = x_ - reach, x1 = x_ + n_ + reach;
    const std::int64_t first = in_.absent_left - reach;  // of the pixels that are there
    const std::int64_t end = in_.width + reach - in_.absent_right;
    for (std::int64_t x = x0; x < first; ++x) {
      piece[x - x0] = copied<T>(in_, k, in_.left_copies[first - 1 - x]);
    }
    const std::int64_t from = std::max(x0, first), to = std::min(x1, end);
    std::copy(row_of<T>(in_, k) + from, row_of<T>(in_, k) + to, piece + from - x0);
    for (std::int64_t x = end; x < x1; ++x) {
      piece[x - x0] = copied<T>(in_, k, in_.right_copies[x - end]);
    }
    return piece;
  }

  const RowsView& in_;
  ResultRows<T> results_;
  const MedianPairs5x5<T>& pairs_;
  std::int64_t least_;  // pixels of a strip
  T* spare_;            // results of the row below the last one
  T* kept_[3] = {};
  T* pieces_[2] = {};
  std::int64_t x_ = 0, n_ = 0;  // the strip
};

// Row by row, in strips.
template <class T>
void run_rows_5x5(const RowsView& in, TileOut out, const MedianRows<T>& ops, Scratch& scratch,
                  CpuLevel level) {
  constexpr std::int64_t strip = strip_bytes / static_cast<std::int64_t>(sizeof(T));
  const ResultRows<T> results(out, strip, scratch, level);
  T* work = scratch.take<T>(median_work(5, std::min(strip, in.width)));
  const T* rows[5];
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; x += strip) {
      for (int j = 0; j < 5; ++j) rows[j] = row_of<T>(in, y + j) - 2 + x;
      const std::int64_t n = std::min(strip, in.width - x);
      ops.median_5x5(results.place(y, x), rows, n, work);
      results.put(y, x, n);
    }
  }
}

}  // namespace

template <class T>
bool run_median_3x3(const RowsView& in, TileOut out, Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  return Median3x3<T>(in, out, median_rows<T>(level), scratch, level).run();
}

template <class T>
void run_median_5x5(const RowsView& in, TileOut out, Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const MedianRows<T>& ops = median_rows<T>(level);
  if (ops.pairs_5x5 != nullptr && in.width >= ops.pixels) {
    Median5x5<T>(in, out, ops, scratch, level).run();
  } else {
    run_rows_5x5(in, out, ops, scratch, level);
  }
}

template bool run_median_3x3<std::uint8_t>(const RowsView&, TileOut, Scratch&, CpuLevel);
template bool run_median_3x3<std::uint16_t>(const RowsView&, TileOut, Scratch&, CpuLevel);
template bool run_median_3x3<float>(const RowsView&, TileOut, Scratch&, CpuLevel);
template bool run_median_3x3<std::int32_t>(const RowsView&, TileOut, Scratch&, CpuLevel);
template void run_median_5x5<std::uint8_t>(const RowsView&, TileOut, Scratch&, CpuLevel);
template void run_median_5x5<std::uint16_t>(const RowsView&, TileOut, Scratch&, CpuLevel);
template void run_median_5x5<float>(const RowsView&, TileOut, Scratch&, CpuLevel);
template void run_median_5x5<std::int32_t>(const RowsView&, TileOut, Scratch&, CpuLevel);

bool median_knows_ends(PixelClass cls, std::int64_t width, CpuLevel level) {
  const auto pixels =
      with_pixel(cls, [&](auto pixel) { return median_rows<decltype(pixel)>(level).pixels; });
  return pixels > 0 && width >= 3 * pixels;
}

}  // namespace impipe::cpu
