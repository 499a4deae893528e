// Values of a given rank under a mask, tile by tile.
#include "backends/cpu/neighbourhood/rank.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/neighbourhood/rank_bytes.hpp"
#include "backends/cpu/neighbourhood/rank_columns.hpp"
#include "backends/cpu/neighbourhood/rank_histogram.hpp"
#include "backends/cpu/neighbourhood/rank_median.hpp"
#include "backends/cpu/neighbourhood/rank_network.hpp"
#include "backends/cpu/neighbourhood/rank_rows.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {
namespace {

// Beyond this many cells a histogram is cheaper than a network; for full rectangles, whose windows
// share most of theirs, beyond so many, by the bytes of a value.
constexpr int max_network_cells = 49;
constexpr int max_columns_cells(PixelClass cls) {
  return bytes_of(cls) == 1 ? 11 * 11 : bytes_of(cls) == 2 ? 9 * 9 : 7 * 7;
}
// The same where bytes are counted in columns, whatever the picture shows.
constexpr int max_columns_cells_beside_counts = 10 * 10;
// What an interpreted network works on at a time: longer rows leave L1, shorter ones
// pay more for each step.
constexpr int chunk_bytes = 512;
constexpr std::int64_t median_strip_bytes = 1024;

// The steps of networks on rows of a chunk and what its windows reach.
template <class T>
struct ChunkProgram {
  static constexpr std::int64_t block = step_block_bytes / static_cast<int>(sizeof(T));
  std::int64_t stride = 0;  // of the rows it takes from the scratch
  std::vector<ChunkStep> steps;

  // Appends a network on n values a wire; gives the rows of its results. at[i]: wire i at first,
  // which is never written; own[i]: where wire i goes, taken from the scratch when null.
  std::vector<const T*> append(const SelectionNetwork& network, std::vector<const T*> at,
                               std::vector<T*> own, std::int64_t n, Scratch& scratch) {
    const int blocks = static_cast<int>((n + block - 1) / block);
    const auto place = [&](int wire) {
      T*& p = own[static_cast<std::size_t>(wire)];
      if (p == nullptr) p = scratch.take<T>(stride);
      at[static_cast<std::size_t>(wire)] = p;
      return p;
    };
    for (const Exchange& exchange : network.exchanges) {
      ChunkStep step{.a = at[static_cast<std::size_t>(exchange.low)],
                     .b = at[static_cast<std::size_t>(exchange.high)]};
      if (exchange.keep_low) step.low = place(exchange.low);
      if (exchange.keep_high) step.high = place(exchange.high);
      step.blocks = blocks;
      steps.push_back(step);
    }
    std::vector<const T*> results;
    for (const int wire : network.results) results.push_back(at[static_cast<std::size_t>(wire)]);
    return results;
  }

  void run(const RankRows<T>& ops) const { ops.run(steps.data(), static_cast<int>(steps.size())); }
};

// Copies one chunk of each input row, with what the windows reach, into `rows`.
template <class T>
void load_rows(const Rank& rank, const RowsView& in, std::int64_t y, std::int64_t x,
               std::int64_t chunk, T* rows, std::int64_t stride) {
  const std::int64_t left = rank.mask.origin_x;
  const std::int64_t reach = rank.mask.width - 1;
  const std::int64_t n = std::min(chunk, in.width - x) + reach;
  for (int j = 0; j < rank.mask.height; ++j) {
    const T* row = reinterpret_cast<const T*>(in.rows[y + j]) - left + x;
    std::memcpy(rows + j * stride, row, static_cast<std::size_t>(n) * sizeof(T));
  }
}

template <class T>
void store(const Rank& rank, const RankRows<T>& ops, const std::vector<const T*>& results, T* out,
           std::int64_t n) {
  if (rank.average) {
    ops.average(out, results[0], results[1], n);
  } else {
    std::transform(results[0], results[0] + n, out, [](T value) { return one_zero(value); });
  }
}

// The program of a full rectangle, on loaded rows, which it overwrites; gives its results' rows.
template <class T>
std::vector<const T*> append_columns(const Rank& rank, int last, std::int64_t chunk, T* rows,
                                     ChunkProgram<T>& program, Scratch& scratch) {
  const Mask& mask = rank.mask;
  const auto network = kept_columns_network(mask.width, mask.height, rank.rank, last);
  std::vector<T*> own;
  for (int j = 0; j < mask.height; ++j) own.push_back(rows + j * program.stride);
  std::vector<std::vector<const T*>> lists;  // one a level, for the window's first column
  const auto append_at = [&](std::vector<const T*>& to, int level, int column) {
    for (const T* row : lists[static_cast<std::size_t>(level)]) {
      to.push_back(row + column);
    }
  };
  for (int k = 0; k < static_cast<int>(network->merges.size()); ++k) {
    std::vector<const T*> from(own.begin(), own.end());
    if (k > 0) {
      from.clear();
      append_at(from, k - 1, 0);
      append_at(from, k - 1, 1 << (k - 1));
      own.assign(from.size(), nullptr);
    }
    const std::int64_t n = chunk + mask.width - (1 << k);
    lists.push_back(
        program.append(network->merges[static_cast<std::size_t>(k)], from, own, n, scratch));
  }
  std::vector<const T*> from;
  int column = 0;
  for (const int level : network->parts) {
    append_at(from, level, column);
    column += 1 << level;
  }
  own.assign(from.size(), nullptr);
  return program.append(network->selection, from, own, chunk, scratch);
}

// The program of any other mask.
template <class T>
std::vector<const T*> append_cells(const Rank& rank, int last, std::int64_t chunk, const T* rows,
                                   ChunkProgram<T>& program, Scratch& scratch) {
  const Mask& mask = rank.mask;
  std::vector<const T*> from;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      if (!mask.at(i, j)) continue;
      from.push_back(rows + j * program.stride + i);
    }
  }
  const SelectionNetwork selection =
      selection_network(std::vector<int>(from.size(), 1), rank.rank, last, MergeOrder::shortest);
  return program.append(selection, from, std::vector<T*>(from.size(), nullptr), chunk, scratch);
}

template <class T>
void run_network(const Rank& rank, RankMethod method, const RowsView& in, TileOut out,
                 Scratch& scratch, const RankRows<T>& ops) {
  const Mask& mask = rank.mask;
  const std::int64_t chunk = chunk_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t reach = mask.width - 1;
  // Whole blocks are worked on, at places moved by less than the reach.
  ChunkProgram<T> program{.stride = chunk + reach + 2 * ChunkProgram<T>::block, .steps = {}};
  T* rows = scratch.take<T>(program.stride * mask.height);
  std::fill_n(rows, program.stride * mask.height, T{});
  const int last = rank.rank + (rank.average ? 1 : 0);
  const std::vector<const T*> results =
      method == RankMethod::columns ? append_columns(rank, last, chunk, rows, program, scratch)
                                    : append_cells(rank, last, chunk, rows, program, scratch);

  const std::int64_t n = in.width;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < n; x += chunk) {
      load_rows(rank, in, y, x, chunk, rows, program.stride);
      program.run(ops);
      store(rank, ops, results, reinterpret_cast<T*>(out.data + y * out.stride) + x,
            std::min(chunk, n - x));
    }
  }
}

template <class T>
T* row_of(const TileOut& out, std::int64_t y) {
  return reinterpret_cast<T*>(out.data + y * out.stride);
}

// Medians of 3x3: where rows lack what lies beside the image, their ends are worked on as copies
// that have it, and the rest in place.
template <class T>
class Median3x3 {
 public:
  Median3x3(const RowsView& in, TileOut out, const MedianRows<T>& ops, Scratch& scratch)
      : in_(in), out_(out), ops_(ops), work_(scratch.take<T>(median_work(3, in.width))) {
    if (in.absent_left + in.absent_right == 0) return;
    part_ = ops.pixels;
    for (T*& row : ends_) row = scratch.take<T>(2 * (part_ + 2));
  }

  void run() {
    for (std::int64_t y = 0; y < in_.height;) {
      const int count = ops_.two_medians_3x3 != nullptr && y + 1 < in_.height ? 2 : 1;
      for (; part_ > 0 && ends_made_ < y + count + 2; ++ends_made_) make_ends(ends_made_);
      const std::int64_t n = in_.width;
      if (part_ == 0) {
        make(y, count, 0, n, [&](std::int64_t k) { return row_in(k) - 1; });
      } else {
        const auto end_of = [&](std::int64_t k) { return ends_[k % window]; };
        make(y, count, 0, part_, end_of);
        make(y, count, part_, n - 2 * part_, [&](std::int64_t k) { return row_in(k) + part_ - 1; });
        make(y, count, n - part_, part_, [&](std::int64_t k) { return end_of(k) + part_ + 2; });
      }
      y += count;
    }
  }

 private:
  const T* row_in(std::int64_t k) const { return reinterpret_cast<const T*>(in_.rows[k]); }
  T* row_out(std::int64_t y) const { return row_of<T>(out_, y); }

  // Results [x, x + n) of `count` rows from y on, of rows that begin where from(k) says.
  template <class From>
  void make(std::int64_t y, int count, std::int64_t x, std::int64_t n, From from) const {
    const T* rows[window];
    for (int j = 0; j < count + 2; ++j) rows[j] = from(y + j);
    if (count == 2) {
      ops_.two_medians_3x3(row_out(y) + x, row_out(y + 1) + x, rows, n, work_);
    } else {
      ops_.median_3x3(row_out(y) + x, rows, n, work_);
    }
  }

  // The first and the last pixels of input row k, each with one more to both sides.
  void make_ends(std::int64_t k) {
    if (in_.far && k + rows_ahead < in_.height + 2) {
      ask_for(row_in(k + rows_ahead), in_.width * static_cast<std::int64_t>(sizeof(T)));
    }
    const T* row = row_in(k);
    T* first = ends_[k % window];
    T* last = first + part_ + 2;
    const std::int64_t n = in_.width;
    std::copy_n(row, part_ + 1, first + 1);
    std::copy_n(row + n - part_ - 1, part_ + 1, last);
    first[0] = in_.absent_left == 0 ? row[-1] : pixel(row, in_.left_copies);
    last[part_ + 1] = in_.absent_right == 0 ? row[n] : pixel(row, in_.right_copies);
  }
  T pixel(const T* row, std::int64_t place) const {
    return place < 0 ? *reinterpret_cast<const T*>(in_.beside) : row[place];
  }

  static constexpr int window = 4;
  const RowsView& in_;
  TileOut out_;
  const MedianRows<T>& ops_;
  T* work_;
  std::int64_t part_ = 0;       // pixels of the parts at the ends of rows; 0: rows are whole
  T* ends_[window] = {};        // both ends of input rows
  std::int64_t ends_made_ = 0;  // of so many rows
};

// What windows share is kept for as many pixels as L1 has room for.
template <class T>
void run_median_5x5(const Rank& rank, const RowsView& in, TileOut out, Scratch& scratch,
                    const MedianRows<T>& ops) {
  const ScratchScope scope(scratch);
  const std::int64_t strip = median_strip_bytes / static_cast<std::int64_t>(sizeof(T));
  T* work = scratch.take<T>(median_work(5, std::min(strip, in.width)));
  const T* rows[5];
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; x += strip) {
      for (int j = 0; j < 5; ++j) {
        rows[j] = reinterpret_cast<const T*>(in.rows[y + j]) - rank.mask.origin_x + x;
      }
      ops.median_5x5(row_of<T>(out, y) + x, rows, std::min(strip, in.width - x), work);
    }
  }
}

template <class T>
void run_class(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
               CpuLevel level) {
  const RankMethod method = rank_method(rank, cls, level);
  if (method == RankMethod::median_3x3) {
    const ScratchScope scope(scratch);
    return Median3x3<T>(in, out, median_rows<T>(level), scratch).run();
  }
  if (method == RankMethod::median_5x5) {
    return run_median_5x5(rank, in, out, scratch, median_rows<T>(level));
  }
  if (method == RankMethod::byte_counts) return run_rank_bytes(rank, in, out, scratch, level);
  if (method == RankMethod::histogram) {
    run_rank_histogram(rank, cls, in, out, scratch, level);
    return;
  }
  const ScratchScope scope(scratch);
  run_network<T>(rank, method, in, out, scratch, rank_rows<T>(level));
}

}  // namespace

RankMethod rank_method(const Rank& rank, PixelClass cls, CpuLevel level) {
  const Mask& mask = rank.mask;
  const int cells = mask.count();
  if (mask.full() && mask.width == mask.height && !rank.average && rank.rank == cells / 2) {
    if (mask.width == 3) return RankMethod::median_3x3;
    if (mask.width == 5) return RankMethod::median_5x5;
  }
  const bool counted = bytes_of(cls) == 1 && has_rank_bytes(rank, level);
  const int most = counted ? max_columns_cells_beside_counts : max_columns_cells(cls);
  if (mask.full() && mask.height > 1 && cells <= most) return RankMethod::columns;
  if (cells <= max_network_cells) return RankMethod::network;
  return counted ? RankMethod::byte_counts : RankMethod::histogram;
}

bool knows_ends(const Rank& rank, PixelClass cls, std::int64_t width, CpuLevel level) {
  if (rank_method(rank, cls, level) != RankMethod::median_3x3) return false;
  const std::int64_t pixels = bytes_of(cls) == 1   ? median_rows<std::uint8_t>(level).pixels
                              : bytes_of(cls) == 2 ? median_rows<std::uint16_t>(level).pixels
                                                   : median_rows<float>(level).pixels;
  return pixels > 0 && width >= 3 * pixels;
}

void run_rank(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
              CpuLevel level) {
  switch (cls) {
    case PixelClass::logical:
    case PixelClass::uint8: return run_class<std::uint8_t>(rank, cls, in, out, scratch, level);
    case PixelClass::uint16: return run_class<std::uint16_t>(rank, cls, in, out, scratch, level);
    case PixelClass::single: return run_class<float>(rank, cls, in, out, scratch, level);
  }
}

}  // namespace impipe::cpu
