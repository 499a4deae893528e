// An image at another size, or moved by a map. A resize makes sixteen output rows together:
// their columns' sums first, as rows. Unless the image becomes much smaller, a few vectors of these
// have what a vector of outputs reads; elsewhere they are turned so that the rows are the lanes of
// vectors, in which the rows' sums need no gathers.
#include "backends/cpu/geometry/resample.hpp"

#include <algorithm>
#include <vector>

#include "backends/cpu/geometry/map.hpp"
#include "backends/cpu/geometry/pick_rows.hpp"
#include "backends/cpu/geometry/resample_rows.hpp"
#include "backends/cpu/geometry/results.hpp"
#include "backends/cpu/tile/method.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "backends/cpu/tile/weighted_sum.hpp"
#include "core/placement.hpp"

namespace impipe::cpu {
namespace {

// The table of a direction whose outputs lie closely enough for it; else an empty one.
SpreadTable spread_table(const ResizeTaps& x, const ResizeAxis& axis, CpuLevel level) {
  const int lanes = spread_lanes(level);
  constexpr int max_vectors = 4;
  if (lanes == 0 || axis.scale * max_vectors < 1) return {};
  SpreadTable table{.lanes = lanes,
                    .vectors = 1,
                    .taps = axis.taps,
                    .repeats = true,
                    .first = {},
                    .places = {},
                    .weights = {}};
  const std::int64_t blocks = (axis.to + lanes - 1) / lanes;
  table.places.resize(static_cast<std::size_t>(blocks * lanes));
  table.weights.resize(static_cast<std::size_t>(blocks * lanes * axis.taps));
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int32_t first = x.first[b * lanes];
    table.first.push_back(first);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t pixel = b * lanes + lane;
      // Lanes beyond the last pixel are as in the first block; in that, without weight.
      const bool there = pixel < axis.to;
      const int place = there ? x.first[pixel] - first : table.places[lane];
      table.places[pixel] = place;
      if (place != table.places[lane]) table.repeats = false;
      while (place >= table.vectors * lanes) table.vectors *= 2;
      if (table.vectors > max_vectors) return {};
      for (int t = 0; t < axis.taps; ++t) {
        const float& first_weight = table.weights[t * lanes + lane];
        const float weight = there ? x.weights[pixel * axis.taps + t] : first_weight;
        table.weights[(b * axis.taps + t) * lanes + lane] = weight;
        if (weight != first_weight) table.repeats = false;
      }
    }
  }
  return table;
}

// Whether every output is half of each of its two inputs, none of them mirrored.
bool halves(const ResizeTaps& taps, const ResizeAxis& axis) {
  if (axis.taps != 2 || 2 * axis.to > axis.from) return false;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    if (taps.first[i] != 2 * i) return false;
  }
  return std::all_of(taps.weights.begin(), taps.weights.begin() + 2 * axis.to,
                     [](float weight) { return weight == 0.5f; });
}

// Whether every input makes two outputs, of three quarters of it and a quarter of a neighbour.
bool doubles(const ResizeTaps& taps, const ResizeAxis& axis) {
  if (axis.taps != 2 || axis.to != 2 * axis.from) return false;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const bool second = i % 2 != 0;
    const float* weights = taps.weights.data() + 2 * i;
    if (taps.first[i] != i / 2 - (second ? 0 : 1) || weights[second ? 0 : 1] != 0.75f ||
        weights[second ? 1 : 0] != 0.25f) {
      return false;
    }
  }
  return true;
}

enum class ResizeMethod { copies, halves, doubles, spread, lanes };
struct ResizeQuestion {
  const ResizeAxes& axes;
  const ResizeTaps &x, &y;
  const SpreadTable& spread;
  PixelClass in, out;
  CpuLevel level;
  double taps() const { return axes.x.taps + axes.y.taps; }
};

// Nanoseconds a pixel of the result, as measured for results of 1024x1024 and 4096x4096. Means of
// integers have no more than two bits behind the point, which every sum in float32 keeps.
constexpr MethodRow<ResizeMethod, ResizeQuestion> resize_methods[] = {
    {ResizeMethod::copies, "copied pixels",
     [](const ResizeQuestion& q) {
       return q.axes.x.copies && q.axes.y.copies ? Cost(0.1) : std::nullopt;
     }},
    {ResizeMethod::halves, "means of four",
     [](const ResizeQuestion& q) {
       const bool can = halve_row(q.in, q.level) != nullptr && q.out == q.in &&
                        halves(q.x, q.axes.x) && halves(q.y, q.axes.y);
       return can ? Cost(0.2) : std::nullopt;
     }},
    {ResizeMethod::doubles, "quarters of four",
     [](const ResizeQuestion& q) {
       const bool can = double_row(q.in, q.level) != nullptr && q.out == q.in &&
                        doubles(q.x, q.axes.x) && doubles(q.y, q.axes.y);
       return can ? Cost(0.1) : std::nullopt;
     }},
    {ResizeMethod::spread, "neighbours in registers",
     [](const ResizeQuestion& q) {
       return q.spread.lanes > 0 ? Cost(0.1 + 0.05 * q.taps()) : std::nullopt;
     }},
    {ResizeMethod::lanes, "rows as lanes",
     [](const ResizeQuestion& q) { return Cost(0.4 + 0.1 * q.taps()); }},
};

class Resize {
 public:
  Resize(const Node& node, const Plane& in, Plane& out, CpuLevel level)
      : in_(in),
        out_(out),
        level_(level),
        stored_(out, level),
        axes_(resize_axes(node, in.size())) {
    const Resample::Method method = std::get<Resample>(node.primitive).method;
    x_ = resize_taps(method, axes_.x);
    y_ = resize_taps(method, axes_.y);
    if (!axes_.x.copies) spread_ = spread_table(x_, axes_.x, level);
  }

  void run(ThreadPool& pool) {
    const ResizeQuestion question{axes_, x_, y_, spread_, in_.cls(), out_.cls(), level_};
    switch (offers_of(resize_methods, question).front().method) {
      case ResizeMethod::copies: return copy(pool);
      case ResizeMethod::halves: return halve(halve_row(in_.cls(), level_), pool);
      case ResizeMethod::doubles: return make_double(double_row(in_.cls(), level_), pool);
      case ResizeMethod::spread:
      case ResizeMethod::lanes: return sum_taps(pool);
    }
  }

 private:
  // Sums of weighted taps, block by block.
  void sum_taps(ThreadPool& pool) const {
    // Blocks of output columns over about this many input columns, which a cache holds as lanes.
    const double per_output = static_cast<double>(axes_.x.from) / static_cast<double>(axes_.x.to);
    const double columns = std::max(768.0, 4.0 * axes_.x.taps);
    std::int64_t block =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(columns / per_output), 1, 512);
    if (spread_.lanes > 0) block = (block + spread_.lanes - 1) / spread_.lanes * spread_.lanes;
    const std::int64_t across = (axes_.x.to + block - 1) / block;
    const std::int64_t strips = (axes_.y.to + resize_rows - 1) / resize_rows;
    pool.for_each(across * strips, [&](std::int64_t part) {
      const std::int64_t x = part % across * block, y = part / across * resize_rows;
      run_block({x, y, std::min(x + block, axes_.x.to), std::min(y + resize_rows, axes_.y.to)});
    });
  }

  void copy(ThreadPool& pool) const {
    const PickTable columns(x_.first.data(), axes_.x.to, axes_.x.from, bytes_of(in_.cls()), level_);
    constexpr std::int64_t rows = 16;
    // Rows that are left out end what a processor foresees.
    const bool far = is_far();
    pool.for_each((axes_.y.to + rows - 1) / rows, [&](std::int64_t part) {
      const std::int64_t end = std::min(part * rows + rows, axes_.y.to);
      for (std::int64_t y = part * rows; y < end; ++y) {
        const std::int64_t ahead = std::min(y + rows_ahead, axes_.y.to - 1);
        if (far) ask_for(in_.row(y_.first[ahead]), in_.row_bytes());
        pick_row(columns, out_.row(y), in_.row(y_.first[y]));
      }
    });
  }

  // Whether the input does not lie in a cache since it was made.
  bool is_far() const {
    constexpr std::int64_t in_caches = 4 << 20;
    return in_.size().height * in_.row_bytes() > in_caches;
  }

  void halve(HalveRow row, ThreadPool& pool) const {
    constexpr std::int64_t rows = 16;
    // Longer rows are foreseen but for their first lines.
    constexpr std::int64_t short_row = 2048;
    const bool far = is_far() && in_.row_bytes() <= short_row;
    pool.for_each((axes_.y.to + rows - 1) / rows, [&](std::int64_t part) {
      for (std::int64_t y = part * rows; y < std::min(part * rows + rows, axes_.y.to); ++y) {
        const std::int64_t ahead = std::min(y + rows_ahead / 2, axes_.y.to - 1);
        for (int k = 0; far && k < 2; ++k) ask_for(in_.row(2 * ahead + k), in_.row_bytes());
        row(out_.row(y), in_.row(2 * y), in_.row(2 * y + 1), axes_.x.to);
      }
    });
  }

  void make_double(DoubleRow row, ThreadPool& pool) const {
    constexpr std::int64_t rows = 8;  // of the input
    const std::int64_t n = axes_.x.from, height = axes_.y.from;
    const bool spills = axes_.y.to * out_.row_bytes() >= kept_in_caches;
    pool.for_each((height + rows - 1) / rows, [&](std::int64_t part) {
      static thread_local std::vector<std::byte> between, made;
      between.resize(static_cast<std::size_t>((n + 2) * 2 * bytes_of(in_.cls())));
      made.resize(static_cast<std::size_t>(out_.row_bytes()));
      for (std::int64_t y = part * rows; y < std::min(part * rows + rows, height); ++y) {
        const std::int64_t neighbours[] = {std::max<std::int64_t>(y - 1, 0),
                                           std::min(y + 1, height - 1)};
        for (int k = 0; k < 2; ++k) {
          std::byte* out = out_.row(2 * y + k);
          row(spills ? made.data() : out, in_.row(y), in_.row(neighbours[k]), n, between.data());
          if (spills) stream_row(out, made.data(), out_.row_bytes(), level_);
        }
      }
      if (spills) end_streams();
    });
  }

  // What one thread works with.
  struct Buffers {
    std::vector<float> rows, lanes, results, result_rows;
  };

  static float* room(std::vector<float>& buffer, std::int64_t n) {
    if (buffer.size() < static_cast<std::size_t>(n)) buffer.resize(static_cast<std::size_t>(n));
    return buffer.data();
  }

  // Output rows and columns of a block.
  void run_block(const Region& to) const {
    static thread_local Buffers buffers;
    const std::int64_t first = x_.first[to.x0], last = x_.first[to.x1 - 1] + axes_.x.taps;
    // The columns that are read, mirrored ones included: column k stands for first + k.
    const bool mirrors = first < 0 || last > axes_.x.from;
    std::int64_t from = mirrors ? axes_.x.from : first, end = mirrors ? 0 : last;
    for (std::int64_t k = first; mirrors && k < last; ++k) {
      const std::int64_t column = map_outside(k, axes_.x.from, Border::symmetric);
      from = std::min(from, column);
      end = std::max(end, column + 1);
    }
    const std::int64_t n = end - from;
    if (spread_.lanes > 0) return spread_block(to, from, n, buffers);
    float* rows = room(buffers.rows, resize_rows * n);
    sum_columns(to, {from, n}, rows, n);
    // Lanes without a row are summed too, and not stored.
    for (std::int64_t y = to.height(); y < resize_rows; ++y) std::fill_n(rows + y * n, n, 0.0f);
    // One lane a row: [columns][resize_rows].
    float* lanes = room(buffers.lanes, (last - first) * resize_rows);
    const std::int64_t inside = std::max<std::int64_t>(first, 0);
    const std::int64_t inside_end = std::min(last, axes_.x.from);
    if (inside < inside_end) {
      rows_to_lanes(level_)(lanes + (inside - first) * resize_rows, rows + (inside - from), n,
                            inside_end - inside);
    }
    for (std::int64_t k = first; k < last; ++k) {
      if (k >= inside && k < inside_end) continue;
      const std::int64_t column = map_outside(k, axes_.x.from, Border::symmetric);
      rows_to_lanes(level_)(lanes + (k - first) * resize_rows, rows + (column - from), n, 1);
    }
    const std::int64_t width = to.width();
    float* results = room(buffers.results, width * resize_rows);
    const SumLanes sum = sum_lanes(level_);
    for (std::int64_t x = to.x0; x < to.x1; ++x) {
      sum(results + (x - to.x0) * resize_rows, lanes + (x_.first[x] - first) * resize_rows,
          x_.weights.data() + x * axes_.x.taps, axes_.x.taps);
    }
    float* result_rows = room(buffers.result_rows, resize_rows * width);
    lanes_to_rows(level_)(results, result_rows, width, width);
    for (std::int64_t y = to.y0; y < to.y1; ++y) {
      stored_.store(to.x0, y, result_rows + (y - to.y0) * width, width);
    }
    stored_.end();
  }

  // Row by row, from sums down the columns [from, from + n).
  void spread_block(const Region& to, std::int64_t from, std::int64_t n, Buffers& buffers) const {
    const std::int64_t first = x_.first[to.x0], last = x_.first[to.x1 - 1] + axes_.x.taps;
    // Rows with their mirrored columns: column k stands at k - left.
    const std::int64_t left = std::min(first, from), beyond = (spread_.vectors + 1) * spread_.lanes;
    const std::int64_t stride = std::max(last, from + n) - left + beyond;
    float* rows = room(buffers.rows, spread_rows * stride);
    const std::int64_t width = to.width() + beyond;
    float* results = room(buffers.results, spread_rows * width);
    const SpreadRow spread = spread_row(spread_, level_);
    for (std::int64_t y = to.y0; y < to.y1; y += spread_rows) {
      const Region now{to.x0, y, to.x1, std::min<std::int64_t>(y + spread_rows, to.y1)};
      sum_columns(now, {from, n}, rows + (from - left), stride);
      for (float* row = rows; row != rows + now.height() * stride; row += stride) {
        for (std::int64_t k = first; k < last; ++k) {
          if (k == from) k = std::min(from + n, last);
          if (k < last) row[k - left] = row[map_outside(k, axes_.x.from, Border::symmetric) - left];
        }
      }
      spread(spread_, to.x0 / spread_.lanes, (to.x1 + spread_.lanes - 1) / spread_.lanes,
             {.in = rows + (first - left),
              .in_stride = stride,
              .origin = first,
              .out = results,
              .out_stride = width});
      for (std::int64_t r = 0; r < now.height(); ++r) {
        stored_.store(to.x0, y + r, results + r * width, to.width());
      }
    }
    stored_.end();
  }

  struct Columns {
    std::int64_t from, n;
  };
  // The sums down the columns of each output row; a row begins `stride` behind the one before.
  void sum_columns(const Region& to, const Columns& columns, float* out,
                   std::int64_t stride) const {
    const auto& [from, n] = columns;
    const int taps = axes_.y.taps;
    const SumRows sum = sum_rows(in_.cls(), taps, level_);
    std::vector<const std::byte*> sources(static_cast<std::size_t>(taps));
    for (std::int64_t y = to.y0; y < to.y1; ++y) {
      for (int t = 0; t < taps; ++t) {
        const std::int64_t row = map_outside(y_.first[y] + t, axes_.y.from, Border::symmetric);
        sources[t] = in_.row(row) + from * bytes_of(in_.cls());
      }
      sum(out + (y - to.y0) * stride, sources.data(), y_.weights.data() + y * taps, taps, n);
    }
  }

  const Plane& in_;
  Plane& out_;
  CpuLevel level_;
  Results stored_;
  ResizeAxes axes_;
  ResizeTaps x_, y_;
  SpreadTable spread_;  // weights of the taps along rows
};

}  // namespace

void run_resample(const Node& node, std::span<const Plane* const> in, double outside,
                  std::span<Plane* const> out, ThreadPool& pool, CpuLevel level) {
  if (std::get<Resample>(node.primitive).kind != Resample::Kind::resize) {
    return run_map(node, in, outside, out, pool, level);
  }
  pool.for_each(std::ssize(in),
                [&](std::int64_t c) { Resize(node, *in[c], *out[c], level).run(pool); });
}

}  // namespace impipe::cpu
