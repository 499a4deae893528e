// Largest and smallest values under a mask, tile by tile.
#include "backends/cpu/neighbourhood/extremum.hpp"

#include <algorithm>

#include "backends/cpu/neighbourhood/extremum_diamonds.hpp"
#include "backends/cpu/neighbourhood/extremum_rows.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// Windows of up to this many rows are combined directly, two output rows at a time.
constexpr int max_direct_rows = max_sources;
// What the columns pass and the runs of an input keep at hand, in bytes: within a level 2 cache.
constexpr std::int64_t strip_bytes = 4096;
constexpr std::int64_t ring_bytes = 128 << 10;

template <class T>
struct Tile {
  const ExtremumRows<T>& ops;
  std::vector<const T*> rows;              // at the first pixel under the mask's bounding rectangle
  std::int64_t width, height;              // of the result
  std::int64_t absent_left, absent_right;  // pixels at the rows' ends that are not there
  bool far;                                // see RowsView
  T nothing;                               // what takes no part
  T* out;
  std::int64_t out_stride;  // in elements
  CpuLevel level;
  T* made = nullptr;  // a row of results that spill, before it is written past the caches
  T* out_row(std::int64_t y) const { return out + y * out_stride; }
  T* begin_row(std::int64_t y) const { return made != nullptr ? made : out_row(y); }
  void end_row(std::int64_t y) const {
    if (made == nullptr) return;
    stream_row(reinterpret_cast<std::byte*>(out_row(y)), reinterpret_cast<const std::byte*>(made),
               width * static_cast<std::int64_t>(sizeof(T)), level);
  }
};

// Fills the ends of a row of `wide` elements that have nothing above or below them.
template <class T>
T* with_ends(const Tile<T>& tile, T* row, std::int64_t wide) {
  std::fill_n(row, tile.absent_left, tile.nothing);
  std::fill_n(row + wide - tile.absent_right, tile.absent_right, tile.nothing);
  return row;
}

// dst row i = the extremum of the rows at[i] to at[i + length - 1], length > 1, for i < count <=
// length; n elements from `begin`. van Herk and Gil-Werman: the last row of the first window is in
// all of them; upwards from it the rows are folded into the results, downwards into so_far.
template <class T>
void columns(const ExtremumRows<T>& ops, std::vector<const T*> at, std::int64_t begin,
             std::int64_t n, std::int64_t count, int length, T* const* rows, T* so_far) {
  for (const T*& row : at) row += begin;
  const auto dst = [&](std::int64_t i) { return rows[i] + begin; };
  ops.combine(dst(count - 1), &at[static_cast<std::size_t>(count - 1)],
              static_cast<int>(length - count + 1), n);
  for (std::int64_t i = count - 2; i >= 0; --i) {
    const T* two[] = {at[static_cast<std::size_t>(i)], dst(i + 1)};
    ops.combine(dst(i), two, 2, n);
  }
  std::fill(so_far, so_far + n, ops.nothing);
  for (std::int64_t i = 1; i < count; ++i) {
    ops.fold(dst(i), so_far, at[static_cast<std::size_t>(i + length - 1)], n);
  }
}

// out[i] = the extremum of in[i + j], j < the last pass's `to`; n elements.
template <class T>
void along_row(const ExtremumRows<T>& ops, const std::vector<WindowPass>& passes, const T* in,
               T* out, std::int64_t n, T* const* between) {
  const int length = passes.back().to;
  const T* sources[max_sources];
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const WindowPass& pass = passes[p];
    const bool last = p + 1 == passes.size();
    T* to = last ? out : between[p % 2];
    for (std::size_t j = 0; j < pass.offsets.size(); ++j) {
      sources[j] = in + pass.offsets[j];
    }
    ops.combine(to, sources, static_cast<int>(pass.offsets.size()), n + length - pass.to);
    in = to;
  }
}

// Asks for `count` pixels, from x on, of the row that is read a little after row y.
template <class T>
void ask_for_row(const Tile<T>& tile, std::int64_t y, std::int64_t x, std::int64_t count) {
  const std::size_t row = static_cast<std::size_t>(y + rows_ahead);
  if (!tile.far || row >= tile.rows.size()) return;
  ask_for(tile.rows[row] + x, count * static_cast<std::int64_t>(sizeof(T)));
}

// Few rows: combined directly, two output rows at a time, while they are in L1.
template <class T>
void run_low_rectangle(const ExtremumPlan& plan, const Tile<T>& tile, Scratch& scratch) {
  const std::int64_t n = tile.width, wide = n + plan.width - 1;
  const std::int64_t there = wide - tile.absent_left - tile.absent_right;
  const std::vector<WindowPass> passes = window_passes(plan.width);
  T* const between[] = {scratch.take<T>(wide), scratch.take<T>(wide)};
  T* const tall[] = {with_ends(tile, scratch.take<T>(wide), wide),
                     with_ends(tile, scratch.take<T>(wide), wide)};
  const bool only_rows = plan.height == 1 && there == wide;
  const bool only_columns = plan.width == 1 && !only_rows;
  std::vector<const T*> rows = tile.rows;
  for (const T*& row : rows) row += tile.absent_left;
  for (std::int64_t y = 0; y < tile.height; y += 2) {
    const int count = y + 1 < tile.height ? 2 : 1;
    for (int k = 0; k < count; ++k) {
      ask_for_row(tile, y + k + plan.height - 1, tile.absent_left, there);
    }
    const T* from[2];
    T* to[2];
    for (int k = 0; k < count; ++k) {
      from[k] = only_rows ? tile.rows[y + k] : tall[k];
      T* row = only_columns ? with_ends(tile, tile.out_row(y + k), wide) : tall[k];
      to[k] = row + tile.absent_left;
    }
    if (!only_rows && plan.height > 1 && count == 2) {
      tile.ops.combine_pair(to[0], to[1], &rows[y], plan.height, there);
    } else if (!only_rows) {
      for (int k = 0; k < count; ++k) tile.ops.combine(to[k], &rows[y + k], plan.height, there);
    }
    if (only_columns) continue;
    for (int k = 0; k < count; ++k) {
      along_row(tile.ops, passes, from[k], tile.begin_row(y + k), n, between);
      tile.end_row(y + k);
    }
  }
}

// Many rows: as many output rows at a time as the window has rows.
template <class T>
void run_tall_rectangle(const ExtremumPlan& plan, const Tile<T>& tile, Scratch& scratch) {
  const std::int64_t n = tile.width, wide = n + plan.width - 1;
  const std::vector<WindowPass> passes = window_passes(plan.width);
  T* const between[] = {scratch.take<T>(wide), scratch.take<T>(wide)};
  const bool only_columns = plan.width == 1;
  const std::int64_t block = std::min<std::int64_t>(plan.height, tile.height);
  std::vector<T*> tall;
  for (std::int64_t i = 0; i < block && !only_columns; ++i) {
    tall.push_back(with_ends(tile, scratch.take<T>(wide), wide));
  }
  const std::int64_t end = wide - tile.absent_right;
  const std::int64_t strip = strip_bytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t y = 0; y < tile.height; y += block) {
    const std::int64_t count = std::min(block, tile.height - y);
    if (only_columns) {
      tall.clear();
      for (std::int64_t i = 0; i < count; ++i) {
        tall.push_back(with_ends(tile, tile.out_row(y + i), wide));
      }
    }
    const auto first = tile.rows.begin() + y;
    const std::vector<const T*> rows(first, first + count + plan.height - 1);
    for (std::int64_t x = tile.absent_left; x < end; x += strip) {
      columns(tile.ops, rows, x, std::min(strip, end - x), count, plan.height, tall.data(),
              between[0]);
    }
    for (std::int64_t i = 0; i < count && !only_columns; ++i) {
      along_row(tile.ops, passes, tall[i], tile.begin_row(y + i), n, between);
      tile.end_row(y + i);
    }
  }
}

// The extrema of all runs of one row: targets[l] gets those of lengths[l]; `pixels` starting
// places for a run of one pixel, length - 1 fewer for a longer one. By doubling.
template <class T>
void runs_of_row(const ExtremumRows<T>& ops, const std::vector<int>& lengths, const T* in,
                 std::int64_t pixels, T* const* targets, T* const* between) {
  std::size_t next = 0;
  while (next < lengths.size() && lengths[next] == 1) ++next;
  const T* power_row = in;
  int turn = 0;
  for (int power = 2; next < lengths.size(); power *= 2) {
    const bool wanted = lengths[next] == power;
    T* doubled = wanted ? targets[next] : between[turn];
    turn = 1 - turn;
    const T* halves[] = {power_row, power_row + power / 2};
    ops.combine(doubled, halves, 2, pixels - power + 1);
    power_row = doubled;
    if (wanted) ++next;
    for (; next < lengths.size() && lengths[next] < 2 * power; ++next) {
      const int length = lengths[next];
      const T* ends[] = {power_row, power_row + length - power};
      ops.combine(targets[next], ends, 2, pixels - length + 1);
    }
  }
}

// The lengths of which rows of extrema are kept: of all runs, or, of a mask of very many lengths,
// the powers of two, of which two that overlap make any run.
std::vector<int> kept_lengths(const ExtremumPlan& plan) {
  constexpr std::size_t most = 64;
  if (plan.lengths.size() <= most) return plan.lengths;
  std::vector<int> powers;
  for (int power = 1; power <= plan.lengths.back(); power *= 2) powers.push_back(power);
  return powers;
}

// Columns [x0, x0 + width) of the tile. lengths: those that are kept.
template <class T>
void run_runs_strip(const ExtremumPlan& plan, const std::vector<int>& lengths, const Tile<T>& tile,
                    std::int64_t x0, std::int64_t width, Scratch& scratch) {
  const ScratchScope scope(scratch);
  const std::int64_t pixels = width + plan.width - 1;
  const std::int64_t stride = (pixels + 63) / 64 * 64;
  const std::size_t kinds = lengths.size();
  const std::int64_t slots = plan.height;
  T* ring = scratch.take<T>(stride * slots * static_cast<std::int64_t>(kinds));
  T* const between[] = {scratch.take<T>(stride), scratch.take<T>(stride)};
  const auto slot = [&](std::size_t kind, std::int64_t y) {
    return ring + (static_cast<std::int64_t>(kind) * slots + y % slots) * stride;
  };
  std::vector<std::size_t> kind_of(plan.runs.size());
  for (std::size_t r = 0; r < plan.runs.size(); ++r) {  // the longest that fits in the run
    kind_of[r] = static_cast<std::size_t>(
        std::upper_bound(lengths.begin(), lengths.end(), plan.runs[r].length) - lengths.begin() -
        1);
  }
  // Pixels of this strip's rows that are not there; if there are any, it works on copies.
  const std::int64_t before = std::clamp<std::int64_t>(tile.absent_left - x0, 0, pixels);
  const std::int64_t beyond =
      std::clamp<std::int64_t>(tile.absent_right - (tile.width - x0 - width), 0, pixels - before);
  const bool copies = before + beyond > 0;
  std::vector<const T*> rows;
  std::vector<T*> copied;
  for (std::int64_t i = 0; copies && i < slots; ++i) {
    copied.push_back(scratch.take<T>(stride));
    std::fill_n(copied.back(), pixels, tile.nothing);
  }
  for (std::size_t y = 0; y < tile.rows.size(); ++y) {
    rows.push_back(copies ? copied[y % copied.size()] : tile.rows[y] + x0);
  }
  std::vector<T*> targets(kinds);
  std::vector<const T*> sources;
  for (std::int64_t y_in = 0; y_in < tile.height + plan.height - 1; ++y_in) {
    for (std::size_t k = 0; k < kinds; ++k) targets[k] = slot(k, y_in);
    const std::int64_t there = pixels - before - beyond;
    ask_for_row(tile, y_in, x0 + before, there);
    if (copies && there > 0) {
      std::copy_n(tile.rows[y_in] + x0 + before, there,
                  copied[static_cast<std::size_t>(y_in % slots)] + before);
    }
    runs_of_row(tile.ops, lengths, rows[y_in], pixels, targets.data(), between);
    const std::int64_t y = y_in - (plan.height - 1);
    if (y < 0) continue;
    sources.clear();
    for (std::size_t r = 0; r < plan.runs.size(); ++r) {
      const MaskRun& run = plan.runs[r];
      const std::int64_t row = y + run.y - plan.top;
      const T* values = run.length == 1 ? rows[row] : slot(kind_of[r], row);
      const std::int64_t first = run.x - plan.left;
      sources.push_back(values + first);
      const int rest = run.length - lengths[kind_of[r]];
      if (rest > 0) sources.push_back(values + first + rest);
    }
    tile.ops.combine(tile.out_row(y) + x0, sources.data(), static_cast<int>(sources.size()), width);
  }
}

template <class T>
void run_runs(const ExtremumPlan& plan, const Tile<T>& tile, Scratch& scratch) {
  const std::vector<int> lengths = kept_lengths(plan);
  const std::int64_t a_column = static_cast<std::int64_t>(lengths.size()) * plan.height *
                                static_cast<std::int64_t>(sizeof(T));
  const std::int64_t strip = std::max<std::int64_t>(ring_bytes / a_column, 2 * plan.width + 64);
  for (std::int64_t x = 0; x < tile.width; x += strip) {
    run_runs_strip(plan, lengths, tile, x, std::min(strip, tile.width - x), scratch);
  }
}

// The rows of a diamond's window as three parts: the middle in place, and copies of both ends,
// where pixels may be missing.
template <class T>
class DiamondRun {
 public:
  DiamondRun(int radius, bool largest, CpuLevel level, const Tile<T>& tile)
      : tile_(tile),
        radius_(radius),
        count_(diamond_pixels<T>(level)),
        kernel_(diamond_kernel<T>(radius, largest, level)),
        end_(tile.width + 2 * radius - tile.absent_right) {
    if (!fits()) return;
    middle_ = (end_ - 2 * count_) / count_ * count_;
    tail_ = (tile.width - count_ - middle_ + count_ - 1) / count_ * count_;
  }

  // Whether there are vectors, and the tile has room for all parts.
  bool fits() const { return count_ > 0 && tile_.width >= 4 * count_; }

  void run(Scratch& scratch) const {
    const int height = 2 * radius_ + 1;
    std::vector<T*> heads, tails;  // of the rows of a window
    for (int k = 0; k < height; ++k) {
      heads.push_back(scratch.take<T>(2 * count_));
      tails.push_back(scratch.take<T>(3 * count_));
      std::fill_n(heads.back(), 2 * count_, tile_.nothing);
      std::fill_n(tails.back(), 3 * count_, tile_.nothing);
    }
    const T* rows[3][max_height];
    const std::int64_t last = tile_.width - tail_;
    for (std::int64_t y = -2 * radius_; y < tile_.height; ++y) {
      const std::int64_t y_in = y + 2 * radius_;
      const T* in = tile_.rows[static_cast<std::size_t>(y_in)];
      ask_for_row(tile_, y_in, tile_.absent_left, end_ - tile_.absent_left);
      const auto slot = static_cast<std::size_t>(y_in % height);
      std::copy(in + tile_.absent_left, in + 2 * count_, heads[slot] + tile_.absent_left);
      std::copy(in + last, in + std::min(end_, last + 3 * count_), tails[slot]);
      if (y < 0) continue;
      for (int k = 0; k < height; ++k) {
        const auto from = static_cast<std::size_t>((y + k) % height);
        rows[0][k] = heads[from];
        rows[1][k] = tile_.rows[static_cast<std::size_t>(y + k)] + count_;
        rows[2][k] = tails[from];
      }
      T* out = tile_.begin_row(y);
      kernel_(out, rows[0], count_, tile_.nothing);
      kernel_(out + count_, rows[1], middle_, tile_.nothing);
      kernel_(out + last, rows[2], tail_, tile_.nothing);
      tile_.end_row(y);
    }
  }

 private:
  static constexpr int max_height = 5;
  const Tile<T>& tile_;
  int radius_;
  std::int64_t count_;  // pixels of a vector
  DiamondKernel<T> kernel_;
  std::int64_t end_;                    // of the pixels of a row that are there
  std::int64_t middle_ = 0, tail_ = 0;  // results of those parts
};

// 1 or 2, where the mask is the diamond of this radius; else 0. That of 2 is the disc.
int diamond_radius(const ExtremumPlan& plan) {
  const int radius = plan.height / 2;
  if (plan.method != ExtremumPlan::Method::runs || radius < 1 || radius > 2) return 0;
  if (plan.height % 2 == 0 || static_cast<int>(plan.runs.size()) != plan.height) return 0;
  for (int k = 0; k < plan.height; ++k) {
    const MaskRun& run = plan.runs[static_cast<std::size_t>(k)];
    const int reach = k < radius ? k : 2 * radius - k;
    if (run.x - plan.left != radius - reach || run.length != 2 * reach + 1) return 0;
  }
  return radius;
}

template <class T>
void run_class(const Extremum& extremum, PixelClass cls, const RowsView& in, TileOut out,
               Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const ExtremumPlan plan = plan_extremum(extremum.mask);
  const ExtremumRows<T>& ops = extremum_rows<T>(extremum.largest, level);
  Tile<T> tile{.ops = ops,
               .rows = {},
               .width = in.width,
               .height = in.height,
               .absent_left = 0,
               .absent_right = 0,
               .far = in.far,
               .nothing = cls == PixelClass::logical && !extremum.largest ? T{1} : ops.nothing,
               .out = reinterpret_cast<T*>(out.data),
               .out_stride = out.stride / static_cast<std::int64_t>(sizeof(T)),
               .level = level,
               .made = out.spills ? scratch.take<T>(in.width) : nullptr};
  if (plan.method == ExtremumPlan::Method::nothing) {
    for (std::int64_t y = 0; y < tile.height; ++y) {
      std::fill_n(tile.out_row(y), tile.width, tile.nothing);
    }
    return;
  }
  const Footprint reach = extremum.mask.footprint();
  const std::int64_t shift = plan.left - reach.left;
  // The bounding rectangle may reach less far than the mask.
  const int right = extremum.mask.width - plan.left - plan.width;
  const std::int64_t wide = tile.width + plan.width - 1;
  tile.absent_left = std::clamp<std::int64_t>(in.absent_left - plan.left, 0, wide);
  tile.absent_right = std::clamp<std::int64_t>(in.absent_right - right, 0, wide - tile.absent_left);
  for (std::int64_t y = 0; y < in.height + plan.height - 1; ++y) {
    tile.rows.push_back(reinterpret_cast<const T*>(in.rows[y + plan.top]) + shift);
  }
  if (const int radius = diamond_radius(plan); radius > 0) {
    const DiamondRun<T> run(radius, extremum.largest, level, tile);
    if (run.fits()) return run.run(scratch);
  }
  if (plan.method == ExtremumPlan::Method::rectangle) {
    plan.height <= max_direct_rows ? run_low_rectangle(plan, tile, scratch)
                                   : run_tall_rectangle(plan, tile, scratch);
  } else {
    run_runs(plan, tile, scratch);
  }
}

}  // namespace

ExtremumPlan plan_extremum(const Mask& mask) {
  ExtremumPlan plan;
  int right = 0, bottom = 0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      MaskRun run{.y = y, .x = x, .length = 0};
      for (; x < mask.width && mask.at(x, y); ++x) ++run.length;
      plan.left = plan.runs.empty() ? run.x : std::min(plan.left, run.x);
      right = std::max(right, x);
      bottom = y + 1;
      plan.runs.push_back(run);
      plan.lengths.push_back(run.length);
    }
  }
  if (plan.runs.empty()) return plan;
  plan.top = plan.runs.front().y;
  plan.width = right - plan.left;
  plan.height = bottom - plan.top;
  std::sort(plan.lengths.begin(), plan.lengths.end());
  plan.lengths.erase(std::unique(plan.lengths.begin(), plan.lengths.end()), plan.lengths.end());
  const bool rectangle = static_cast<int>(plan.runs.size()) == plan.height &&
                         plan.lengths.size() == 1 && plan.lengths[0] == plan.width;
  plan.method = rectangle ? ExtremumPlan::Method::rectangle : ExtremumPlan::Method::runs;
  return plan;
}

std::vector<WindowPass> window_passes(int length) {
  std::vector<WindowPass> passes;
  int from = 1;
  // A pass over four places costs about as much as two of two, with half the stores.
  while ((length + from - 1) / from > max_sources) {
    passes.push_back({.from = from, .to = 4 * from, .offsets = {0, from, 2 * from, 3 * from}});
    from *= 4;
  }
  WindowPass last{.from = from, .to = length, .offsets = {}};
  for (int offset = 0; offset + from < length; offset += from) last.offsets.push_back(offset);
  last.offsets.push_back(length - from);
  passes.push_back(last);
  return passes;
}

void run_extremum(const Extremum& extremum, PixelClass cls, const RowsView& in, TileOut out,
                  Scratch& scratch, CpuLevel level) {
  with_pixel(
      cls, [&](auto pixel) { run_class<decltype(pixel)>(extremum, cls, in, out, scratch, level); });
}

}  // namespace impipe::cpu
