// Values of a given rank under a mask, tile by tile.
#include "backends/cpu/neighbourhood/rank.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "backends/cpu/neighbourhood/median_tile.hpp"
#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/neighbourhood/rank_bytes.hpp"
#include "backends/cpu/neighbourhood/rank_columns.hpp"
#include "backends/cpu/neighbourhood/rank_histogram.hpp"
#include "backends/cpu/neighbourhood/rank_keys.hpp"
#include "backends/cpu/neighbourhood/rank_network.hpp"
#include "backends/cpu/neighbourhood/rank_rows.hpp"
#include "backends/cpu/neighbourhood/rank_sliding.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// What an interpreted network works on at a time: longer rows leave L1, shorter ones
// pay more for each step.
constexpr int chunk_bytes = 512;

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

// The rows of a tile of floats under a mask; what is beside the image is a number.
class FloatRows {
 public:
  FloatRows(const Mask& mask, const RowsView& in, CpuLevel level)
      : in_(in),
        ops_(rank_keys(level)),
        left_(mask.origin_x),
        wide_(in.width + mask.width - 1),
        rows_(in.height + mask.height - 1),
        there_(wide_ - in.absent_left - in.absent_right) {}

  bool any_nan() const {
    for (std::int64_t k = 0; k < rows_; ++k) {
      if (ops_.any_nan(first(k), there_)) return true;
    }
    return false;
  }

  // As keys, with what the rows lack at their ends; valid as long as the scratch.
  RowsView keys(Scratch& scratch) const {
    auto* rows = scratch.take<const std::byte*>(rows_);
    for (std::int64_t k = 0; k < rows_; ++k) {
      std::int32_t* keys = scratch.take<std::int32_t>(wide_);
      ops_.from_row(keys + in_.absent_left, first(k), there_);
      const auto copy_of = [&](std::int64_t x) {
        return x < 0 ? rank_key(beside()) : keys[left_ + x];
      };
      for (std::int64_t i = 0; i < in_.absent_left; ++i) {
        keys[in_.absent_left - 1 - i] = copy_of(in_.left_copies[i]);
      }
      for (std::int64_t i = 0; i < in_.absent_right; ++i) {
        keys[wide_ - in_.absent_right + i] = copy_of(in_.right_copies[i]);
      }
      rows[k] = reinterpret_cast<const std::byte*>(keys + left_);
    }
    return {.rows = rows, .width = in_.width, .height = in_.height};
  }

 private:
  // The first pixel of a row that is there.
  const float* first(std::int64_t k) const {
    return reinterpret_cast<const float*>(in_.rows[k]) - left_ + in_.absent_left;
  }
  float beside() const { return *reinterpret_cast<const float*>(in_.beside); }

  const RowsView& in_;
  const RankKeys& ops_;
  std::int64_t left_, wide_, rows_;
  std::int64_t there_;  // pixels of a row
};

// By comparisons, which put NaN nowhere: false where there is one, and not all is made.
template <class T>
bool run_compared(const Rank& rank, RankMethod method, const RowsView& in, TileOut out,
                  Scratch& scratch, CpuLevel level) {
  if (method == RankMethod::median_3x3) return run_median_3x3<T>(in, out, scratch, level);
  if constexpr (std::is_same_v<T, float>) {
    if (FloatRows(rank.mask, in, level).any_nan()) return false;
  }
  if (method == RankMethod::median_5x5) {
    run_median_5x5<T>(in, out, scratch, level);
  } else {
    const ScratchScope scope(scratch);
    run_network<T>(rank, method, in, out, scratch, rank_rows<T>(level));
  }
  return true;
}

// Of floats.
void run_by_keys(const Rank& rank, RankMethod method, const RowsView& in, TileOut out,
                 Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const RowsView keys = FloatRows(rank.mask, in, level).keys(scratch);
  run_compared<std::int32_t>(rank, method, keys, {out.data, out.stride}, scratch, level);
  for (std::int64_t y = 0; y < in.height; ++y) {
    rank_keys(level).to_values(out.data + y * out.stride, in.width);
  }
}

// A compiled network is cheaper than any other method, and than asking for the others' costs.
RankMethod method_of(const RankQuestion& question) {
  if (const auto compiled = median_network(question.rank)) return *compiled;
  return rank_offers(question).front().method;
}

template <class T>
void run_class(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
               CpuLevel level) {
  const RankMethod method = method_of({rank, cls, {in.width, in.height}, level});
  if (method == RankMethod::byte_counts) return run_rank_bytes(rank, in, out, scratch, level);
  if (method == RankMethod::tiles) return run_rank_tiles(rank, cls, in, out, scratch, level);
  if (method == RankMethod::sliding) return run_rank_sliding(rank, cls, in, out, scratch);
  if (run_compared<T>(rank, method, in, out, scratch, level)) return;
  run_by_keys(rank, method, in, out, scratch, level);
}

}  // namespace

bool streams_rows(const Rank& rank) { return median_network(rank).has_value(); }

bool knows_ends(const Rank& rank, PixelClass cls, std::int64_t width, CpuLevel level) {
  return streams_rows(rank) && median_knows_ends(cls, width, level);
}

void run_rank(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
              CpuLevel level) {
  with_pixel(cls,
             [&](auto pixel) { run_class<decltype(pixel)>(rank, cls, in, out, scratch, level); });
}

}  // namespace impipe::cpu
