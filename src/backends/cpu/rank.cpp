// Values of a given rank under a mask, tile by tile.
#include "backends/cpu/rank.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/neighbourhood.hpp"
#include "backends/cpu/rank_histogram.hpp"
#include "backends/cpu/rank_median.hpp"
#include "backends/cpu/rank_network.hpp"
#include "backends/cpu/rank_rows.hpp"

namespace impipe::cpu {
namespace {

// Beyond this many cells a histogram is cheaper than a network.
constexpr int most_network_cells = 49;

// The steps of a network on chunks.
template <class T>
struct ChunkProgram {
  static constexpr std::int64_t chunk = network_chunk_bytes / static_cast<int>(sizeof(T));
  std::vector<ChunkStep> steps;
  std::vector<const T*> results;

  // at[i]: the chunk on wire i at first, which is never written; own[i]: where values of wire i
  // go, taken from the scratch when null.
  void append(const SelectionNetwork& network, std::vector<const T*> at, std::vector<T*> own,
              Scratch& scratch) {
    const auto place = [&](int wire) {
      T*& p = own[static_cast<std::size_t>(wire)];
      if (p == nullptr) p = scratch.take<T>(chunk);
      at[static_cast<std::size_t>(wire)] = p;
      return p;
    };
    for (const Exchange& exchange : network.exchanges) {
      ChunkStep step{.a = at[static_cast<std::size_t>(exchange.low)],
                     .b = at[static_cast<std::size_t>(exchange.high)]};
      if (exchange.keep_low) step.low = place(exchange.low);
      if (exchange.keep_high) step.high = place(exchange.high);
      steps.push_back(step);
    }
    results.clear();
    for (const int wire : network.results) results.push_back(at[static_cast<std::size_t>(wire)]);
  }

  void run(const RankRows<T>& ops) const {
    ops.run(steps.data(), static_cast<int>(steps.size()));
  }
};

// Copies one chunk of each input row, with what the windows reach, into `rows`.
template <class T>
void load_rows(const Rank& rank, const RowsView& in, std::int64_t y, std::int64_t x,
               std::int64_t chunk, T* rows, std::int64_t stride) {
  const std::int64_t left = static_cast<std::int64_t>(rank.mask.origin_x) * in.channels;
  const std::int64_t reach = static_cast<std::int64_t>(rank.mask.width - 1) * in.channels;
  const std::int64_t n = std::min(chunk, in.width * in.channels - x) + reach;
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
    std::memcpy(out, results[0], static_cast<std::size_t>(n) * sizeof(T));
  }
}

template <class T>
void run_network(const Rank& rank, RankMethod method, const RowsView& in, TileOut out,
                 Scratch& scratch, const RankRows<T>& ops) {
  constexpr std::int64_t chunk = ChunkProgram<T>::chunk;
  const Mask& mask = rank.mask;
  const std::int64_t reach = static_cast<std::int64_t>(mask.width - 1) * in.channels;
  // The reach is worked on in whole chunks too.
  const std::int64_t stride = (chunk + reach + chunk - 1) / chunk * chunk;
  T* rows = scratch.take<T>(stride * mask.height);
  std::fill(rows, rows + stride * mask.height, T{});
  const int last = rank.rank + (rank.average ? 1 : 0);

  ChunkProgram<T> columns, windows;
  std::vector<const T*> sources;  // one a wire of the windows' network
  SelectionNetwork selection;
  if (method == RankMethod::columns) {
    const SelectionNetwork sorting = sorting_network(mask.height);
    for (std::int64_t x = 0; x < chunk + reach; x += chunk) {
      std::vector<T*> own;
      for (int j = 0; j < mask.height; ++j) own.push_back(rows + j * stride + x);
      columns.append(sorting, {own.begin(), own.end()}, own, scratch);
    }
    for (int i = 0; i < mask.width; ++i) {
      for (const int wire : sorting.results) {
        sources.push_back(rows + wire * stride + static_cast<std::int64_t>(i) * in.channels);
      }
    }
    const std::vector<int> lengths(static_cast<std::size_t>(mask.width), mask.height);
    selection = selection_network(lengths, rank.rank, last, MergeOrder::shortest);
  } else {
    for (int j = 0; j < mask.height; ++j) {
      for (int i = 0; i < mask.width; ++i) {
        if (!mask.at(i, j)) continue;
        sources.push_back(rows + j * stride + static_cast<std::int64_t>(i) * in.channels);
      }
    }
    selection = selection_network(std::vector<int>(sources.size(), 1), rank.rank, last,
                                  MergeOrder::shortest);
  }
  windows.append(selection, sources, std::vector<T*>(sources.size(), nullptr), scratch);

  const std::int64_t n = in.width * in.channels;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < n; x += chunk) {
      load_rows(rank, in, y, x, chunk, rows, stride);
      columns.run(ops);
      windows.run(ops);
      store(rank, ops, windows.results, reinterpret_cast<T*>(out.data + y * out.stride) + x,
            std::min(chunk, n - x));
    }
  }
}

template <class T>
void run_square_median(const Rank& rank, const RowsView& in, TileOut out, Scratch& scratch,
                       const MedianRows<T>& ops) {
  const ScratchScope scope(scratch);
  const int side = rank.mask.width;
  const std::int64_t n = in.width * in.channels;
  const std::int64_t left = static_cast<std::int64_t>(rank.mask.origin_x) * in.channels;
  T* work = scratch.take<T>(median_work(side, n, in.channels));
  const T* rows[5];
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (int j = 0; j < side; ++j) rows[j] = reinterpret_cast<const T*>(in.rows[y + j]) - left;
    T* to = reinterpret_cast<T*>(out.data + y * out.stride);
    (side == 3 ? ops.median_3x3 : ops.median_5x5)(to, rows, n, in.channels, work);
  }
}

template <class T>
void run_class(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
               CpuLevel level) {
  const RankMethod method = rank_method(rank);
  if (method == RankMethod::median_3x3 || method == RankMethod::median_5x5) {
    run_square_median<T>(rank, in, out, scratch, median_rows<T>(level));
    return;
  }
  if (method == RankMethod::histogram) {
    run_rank_histogram(rank, cls, in, out, scratch);
    return;
  }
  const ScratchScope scope(scratch);
  run_network<T>(rank, method, in, out, scratch, rank_rows<T>(level));
}

}  // namespace

RankMethod rank_method(const Rank& rank) {
  const Mask& mask = rank.mask;
  const int cells = mask.count();
  if (mask.full() && mask.width == mask.height && !rank.average && rank.rank == cells / 2) {
    if (mask.width == 3) return RankMethod::median_3x3;
    if (mask.width == 5) return RankMethod::median_5x5;
  }
  if (cells > most_network_cells) return RankMethod::histogram;
  return mask.full() && mask.height > 1 ? RankMethod::columns : RankMethod::network;
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
