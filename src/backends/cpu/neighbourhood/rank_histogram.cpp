// Cuts the region into tiles whose values are numbered, and moves the window over each.
#include "backends/cpu/neighbourhood/rank_histogram.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/neighbourhood/extremum.hpp"
#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/neighbourhood/rank_tile.hpp"
#include "backends/cpu/neighbourhood/rank_window.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// How a region is cut: tiles of width x height results, each the same but for the last ones.
struct Cut {
  std::int64_t width = 0, height = 0;
  int bucket_shift = min_bucket_shift;
  double cost = std::numeric_limits<double>::infinity();  // nanoseconds a result
};

// Nanoseconds for a value of one, two or four bytes that is numbered and enters the counts of a
// column; for a search through a bucket of 128 values; for the rest of a window.
constexpr double value_cost[] = {5, 5.25, 0, 7};  // [bytes - 1]
constexpr double search_cost = 1.75, window_cost = 3;
// For a run of the mask, of which a cell enters the counts and one leaves them.
constexpr double run_cost = 3;

// The cheapest one; of infinite cost where no tile holds a window.
Cut best_cut(Size region, PixelClass cls, const Mask& mask) {
  Cut best;
  const auto results = static_cast<double>(region.pixels());
  for (int shift = min_bucket_shift; shift <= max_bucket_shift; ++shift) {
    const std::int64_t values = std::int64_t{buckets} << shift;
    for (std::int64_t parts = 1; parts <= region.height; ++parts) {
      const std::int64_t height = (region.height + parts - 1) / parts;
      const std::int64_t reads = height + mask.height - 1;
      const std::int64_t columns = std::min<std::int64_t>(max_tile_side, values / reads);
      if (reads > max_tile_side || columns < mask.width) continue;
      const std::int64_t most = columns - mask.width + 1;
      const std::int64_t across = (region.width + most - 1) / most;
      const std::int64_t width = (region.width + across - 1) / across;
      const auto read = static_cast<double>(parts * across * (width + mask.width - 1));
      const double cost =
          read * static_cast<double>(reads) * value_cost[bytes_of(cls) - 1] / results +
          search_cost * (1 << (shift - min_bucket_shift));
      if (cost < best.cost) best = {width, height, shift, cost};
    }
  }
  return best;
}

// Windows of a tile: `numbers` of one row at a time.
class TileWindows {
 public:
  virtual ~TileWindows() = default;
  // Starts a tile, whose windows cover width x height values each.
  virtual void start(const std::uint8_t* codes, const TilePlaces& places, int tile_width) = 0;
  // The next row of `count` windows; next: of the values that follow, or null.
  virtual void row(int count, std::uint16_t* numbers, std::uint16_t* next) = 0;
};

// Full rectangles: counts of columns, summed.
class RectangleWindows final : public TileWindows {
 public:
  RectangleWindows(const Rank& rank, Scratch& scratch, CpuLevel level)
      : rank_(rank),
        ops_(rank_windows(level)),
        columns_(scratch.take<ColumnCounts>(max_tile_side)) {}

  void start(const std::uint8_t* codes, const TilePlaces& places, int tile_width) override {
    codes_ = codes, places_ = places, width_ = tile_width, y_ = 0;
    std::fill_n(columns_, tile_width, ColumnCounts{});
    for (int y = 0; y < rank_.mask.height; ++y) {
      ops_.move_columns(columns_, codes + y * tile_row, nullptr, tile_width);
    }
  }

  void row(int count, std::uint16_t* numbers, std::uint16_t* next) override {
    if (y_ > 0) {
      const std::uint8_t* gone = codes_ + (y_ - 1) * tile_row;
      ops_.move_columns(columns_, gone + rank_.mask.height * tile_row, gone, width_);
    }
    const bool is_high = rank_.mask.height > max_low_window;
    ops_.select[is_high][places_.bucket_shift - min_bucket_shift]({.width = rank_.mask.width,
                                                                   .height = rank_.mask.height,
                                                                   .y = y_,
                                                                   .count = count,
                                                                   .rank = rank_.rank},
                                                                  places_, columns_, numbers, next);
    ++y_;
  }

 private:
  const Rank& rank_;
  const RankWindows& ops_;
  ColumnCounts* columns_;
  const std::uint8_t* codes_ = nullptr;
  TilePlaces places_;
  int width_ = 0, y_ = 0;
};

// Any mask: the ends of its runs enter and leave the counts.
class MaskWindows final : public TileWindows {
 public:
  MaskWindows(const Rank& rank, CpuLevel level) : rank_(rank), ops_(rank_windows(level)) {
    for (const MaskRun& run : plan_extremum(rank.mask).runs) {
      const int first = run.y * tile_row + run.x;
      leaving_.push_back(first);
      entering_.push_back(first + run.length);
      for (int i = 0; i < run.length; ++i) all_.push_back(first + i);
    }
  }

  void start(const std::uint8_t* codes, const TilePlaces& places, int) override {
    codes_ = codes, places_ = places, y_ = 0;
  }

  void row(int count, std::uint16_t* numbers, std::uint16_t* next) override {
    const Mask& mask = rank_.mask;
    ops_.select_under_mask(
        {.width = mask.width, .height = mask.height, .y = y_, .count = count, .rank = rank_.rank},
        {all_.data(), static_cast<int>(all_.size()), entering_.data(), leaving_.data(),
         static_cast<int>(leaving_.size()), mask.cells.data()},
        places_, codes_, numbers, next);
    ++y_;
  }

 private:
  const Rank& rank_;
  const RankWindows& ops_;
  std::vector<int> all_, entering_, leaving_;
  const std::uint8_t* codes_ = nullptr;
  TilePlaces places_;
  int y_ = 0;
};

template <class T>
void run_class(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
               TileWindows& windows) {
  const Mask& mask = rank.mask;
  const Cut cut = best_cut({in.width, in.height}, cls, mask);
  TileSorter<T> sorter(cut.bucket_shift, scratch);
  std::uint16_t numbers[max_tile_side], after[max_tile_side];
  std::uint16_t* next = rank.average ? after : nullptr;
  std::vector<const T*> rows;
  for (std::int64_t y = 0; y < in.height; y += cut.height) {
    const std::int64_t height = std::min(cut.height, in.height - y);
    for (std::int64_t x = 0; x < in.width; x += cut.width) {
      const int count = static_cast<int>(std::min(cut.width, in.width - x));
      rows.clear();
      for (std::int64_t j = 0; j < height + mask.height - 1; ++j) {
        rows.push_back(reinterpret_cast<const T*>(in.rows[y + j]) + x - mask.origin_x);
      }
      const int wide = count + mask.width - 1;
      const RankTile<T>& tile = sorter.sort(rows.data(), wide, static_cast<int>(rows.size()));
      windows.start(tile.codes, {tile.x, tile.y, tile.bucket_shift}, wide);
      for (std::int64_t j = 0; j < height; ++j) {
        windows.row(count, numbers, next);
        T* to = reinterpret_cast<T*>(out.data + (y + j) * out.stride) + x;
        for (int i = 0; i < count; ++i) {
          const T value = tile.values[numbers[i]];
          to[i] = next == nullptr ? value : mean_of_two(value, tile.values[next[i]]);
        }
      }
    }
  }
}

}  // namespace

Cost rank_tiles_cost(const RankQuestion& q) {
  const Mask& mask = q.rank.mask;
  const bool fits = mask.full() ? mask.height <= max_window_height
                                : std::max(mask.width, mask.height) <= max_low_window;
  if (q.level == CpuLevel::baseline || !fits) return std::nullopt;
  const Cut cut = best_cut(q.tile, q.cls, mask);
  if (cut.width == 0) return std::nullopt;
  const auto runs = static_cast<double>(plan_extremum(mask).runs.size());
  const double moved = mask.full() ? 0 : run_cost * runs;
  return (cut.cost + moved + window_cost) * (q.rank.average ? 1.3 : 1) *
         (q.level == CpuLevel::v4 ? 1 : 1.4);
}

void run_rank_tiles(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out,
                    Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const auto run = [&](TileWindows& windows) {
    with_pixel(
        cls, [&](auto pixel) { run_class<decltype(pixel)>(rank, cls, in, out, scratch, windows); });
  };
  if (rank.mask.full()) {
    RectangleWindows windows(rank, scratch, level);
    run(windows);
  } else {
    MaskWindows windows(rank, level);
    run(windows);
  }
}

}  // namespace impipe::cpu
