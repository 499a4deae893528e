// An image at another size, or moved by an affine map. A resize makes sixteen output rows together:
// their columns' sums first, as rows. Unless the image becomes much smaller, a few vectors of these
// have what a vector of outputs reads; elsewhere they are turned so that the rows are the lanes of
// vectors, in which the rows' sums need no gathers.
#include "backends/cpu/geometry/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/geometry/map_rows.hpp"
#include "backends/cpu/geometry/pick_rows.hpp"
#include "backends/cpu/geometry/resample_rows.hpp"
#include "backends/cpu/geometry/warp_rows.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "backends/cpu/tile/weighted_sum.hpp"
#include "core/placement.hpp"

namespace impipe::cpu {
namespace {

// Where results go: past the caches, if all of them are more than stays there. Bytes are too few a
// row of a block for that to pay.
class Results {
 public:
  Results(Plane& out, CpuLevel level)
      : out_(out),
        level_(level),
        spills_(bytes_of(out.cls()) > 1 && out.size().height * out.row_bytes() > kept_in_caches) {}

  // Numbers become pixels, from column x of row y on; a logical one is set from a half on.
  void store(std::int64_t x, std::int64_t y, float* numbers, std::int64_t n) const {
    const PixelClass cls = out_.cls();
    std::byte* to = out_.row(y) + x * bytes_of(cls);
    if (cls == PixelClass::logical) {
      for (std::int64_t i = 0; i < n; ++i) numbers[i] = numbers[i] >= 0.5f ? 1.0f : 0.0f;
    }
    if (!spills_) return store_row(to, numbers, cls, n, level_);
    if (cls == PixelClass::single) {
      return stream_row(to, reinterpret_cast<const std::byte*>(numbers), n * bytes_of(cls), level_);
    }
    static thread_local std::vector<std::byte> codes;
    codes.resize(static_cast<std::size_t>(n * bytes_of(cls)));
    store_row(codes.data(), numbers, cls, n, level_);
    stream_row(to, codes.data(), n * bytes_of(cls), level_);
  }
  // After the last of a part, before other threads read it.
  void end() const {
    if (spills_) end_streams();
  }

 private:
  Plane& out_;
  CpuLevel level_;
  bool spills_;
};

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
    if (axes_.x.copies && axes_.y.copies) {
      const PickTable columns(x_.first.data(), axes_.x.to, axes_.x.from, bytes_of(in_.cls()),
                              level_);
      constexpr std::int64_t rows = 16;
      pool.for_each((axes_.y.to + rows - 1) / rows, [&](std::int64_t part) {
        const std::int64_t end = std::min(part * rows + rows, axes_.y.to);
        for (std::int64_t y = part * rows; y < end; ++y) {
          pick_row(columns, out_.row(y), in_.row(y_.first[y]));
        }
      });
      return;
    }
    // Their means have no more than two bits behind the point, which every sum in float32 keeps.
    const bool codes = in_.cls() == PixelClass::uint8 || in_.cls() == PixelClass::uint16;
    if (codes && out_.cls() == in_.cls() && halves(x_, axes_.x) && halves(y_, axes_.y)) {
      return halve(pool);
    }
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

 private:
  void halve(ThreadPool& pool) const {
    const HalveRow row = halve_row(in_.cls(), level_);
    constexpr std::int64_t rows = 16;
    pool.for_each((axes_.y.to + rows - 1) / rows, [&](std::int64_t part) {
      for (std::int64_t y = part * rows; y < std::min(part * rows + rows, axes_.y.to); ++y) {
        row(out_.row(y), in_.row(2 * y), in_.row(2 * y + 1), axes_.x.to);
      }
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
  SpreadTable spread_;  // of rows
};

struct Place {
  double x, y;
};
Place place_of(const AffinePlace& p, double u, double v) {
  return {p.a * u + p.b * v + p.c, p.d * u + p.e * v + p.f};
}
Place place_of(const MappedPlace& p, double u, double v) {
  const double across = u - p.u0, down = v - p.v0;
  const double w = p.g * across + p.h * down + p.i;
  return {(p.a * across + p.b * down + p.c) / w + p.x0,
          (p.d * across + p.e * down + p.f) / w + p.y0};
}

// Asks for what a block of outputs reads, about: it lies in short pieces of many input rows, which
// a processor does not foresee, and beyond its caches it waited for each longer than it computed.
// In line, for a function that does nothing but this counts as one without effect and is dropped.
template <class Map>
[[gnu::always_inline]] inline void fetch_block(const Map& map, const Plane& in,
                                               const Region& block) {
  const std::int64_t pixel = bytes_of(in.cls());
  const auto index = [](double place, std::int64_t n) {
    return place > 0 ? static_cast<std::int64_t>(std::min(place, static_cast<double>(n - 1))) : 0;
  };
  constexpr std::int64_t half_line = 32;
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    for (std::int64_t u = block.x0; u < block.x1; u += half_line / pixel) {
      const Place place = place_of(map, static_cast<double>(u), static_cast<double>(v));
      const std::byte* row = in.row(index(place.y, in.size().height));
      __builtin_prefetch(row + index(place.x, in.size().width) * pixel);
    }
  }
}

// How a map's outputs are cut.
struct Blocks {
  std::int64_t columns = 256, rows = 16;
};
constexpr std::int64_t most_columns = 256, most_rows = 64, most_pixels = 4096;

// Calls make for each block of the output, on all threads.
template <class Make>
void for_blocks(Size size, Blocks blocks, ThreadPool& pool, Make make) {
  const std::int64_t across = (size.width + blocks.columns - 1) / blocks.columns;
  const std::int64_t down = (size.height + blocks.rows - 1) / blocks.rows;
  pool.for_each(across * down, [&](std::int64_t part) {
    const std::int64_t x = part % across * blocks.columns, y = part / across * blocks.rows;
    make(Region{x, y, std::min(x + blocks.columns, size.width),
                std::min(y + blocks.rows, size.height)});
  });
}

bool turns(const AffinePlace& place) { return place.b != 0 || place.d != 0; }

Blocks blocks_of(const AffinePlace& place, int pixel_bytes) {
  if (!turns(place)) return {};
  return pixel_bytes == 1 ? Blocks{64, 64} : pixel_bytes == 2 ? Blocks{64, 32} : Blocks{128, 16};
}

// The part of an input that a block of the output reads. Where codes are turned it is copied, if L1
// has room for it: rows of an image are apart by what often is a power of two, and then few of them
// fit beside each other. Floats are too large for that to pay.
class Part {
 public:
  Part(const AffinePlace& place, const Region& block, const Plane& in) {
    region_ = whole(in.size());
    if (!turns(place) || in.cls() == PixelClass::single) return;
    double left = HUGE_VAL, top = HUGE_VAL, right = -HUGE_VAL, bottom = -HUGE_VAL;
    for (const std::int64_t u : {block.x0, block.x1 - 1}) {
      for (const std::int64_t v : {block.y0, block.y1 - 1}) {
        const Place at = place_of(place, static_cast<double>(u), static_cast<double>(v));
        left = std::min(left, at.x);
        right = std::max(right, at.x);
        top = std::min(top, at.y);
        bottom = std::max(bottom, at.y);
      }
    }
    // Neighbours, the words that gathers load, and what rounding may add.
    constexpr double before = 2, behind = 6;
    const auto inside = [](double x, std::int64_t n) {
      return x > 0 ? static_cast<std::int64_t>(std::min(x, static_cast<double>(n))) : 0;
    };
    const Size size = in.size();
    const Region read{inside(left - before, size.width), inside(top - before, size.height),
                      inside(right + behind, size.width), inside(bottom + behind, size.height)};
    const std::int64_t lines = (read.width() * bytes_of(in.cls()) + line - 1) / line + 1;
    const std::int64_t stride = (lines | 1) * line;
    // Also false where a place is NaN.
    if (!(right - left < most && bottom - top < most) || stride * read.height() > room) return;
    region_ = read;
    stride_ = stride;
  }

  bool is_copied() const { return stride_ > 0; }

  // In line, as fetch_block.
  [[gnu::always_inline]] void ask_for(const Plane& in) const {
    const std::int64_t pixel = bytes_of(in.cls());
    for (std::int64_t y = region_.y0; is_copied() && y < region_.y1; ++y) {
      cpu::ask_for(in.row(y) + region_.x0 * pixel, region_.width() * pixel);
    }
  }

  // The rows in `row`, of the plane or of its copy, which is made in `memory`.
  void take(const Plane& in, std::byte* memory, AffineRow& row) const {
    row.data = in.row(0);
    row.stride = in.stride();
    row.base = 0;
    row.width = in.size().width;
    row.height = in.size().height;
    if (!is_copied()) return;
    const std::int64_t pixel = bytes_of(in.cls());
    for (std::int64_t y = region_.y0; y < region_.y1; ++y) {
      std::memcpy(memory + (y - region_.y0) * stride_, in.row(y) + region_.x0 * pixel,
                  static_cast<std::size_t>(region_.width() * pixel));
    }
    row.data = memory;
    row.stride = stride_;
    row.base = region_.y0 * stride_ + region_.x0 * pixel;
  }

  static constexpr std::int64_t room = 32 << 10, beyond = 64;  // bytes of memory

 private:
  static constexpr std::int64_t line = 64;
  static constexpr double most = 4096;
  Region region_;
  std::int64_t stride_ = 0;
};

// Row v of a block.
void to_row(const AffinePlace& place, const Region& block, std::int64_t v, AffineRow& row) {
  const double down = static_cast<double>(v);
  row.a = place.a;
  row.x = __builtin_fma(place.b, down, place.c);
  row.d = place.d;
  row.y = __builtin_fma(place.e, down, place.f);
  row.begin = block.x0;
  row.n = block.x1;
}

void run_affine(const Node& node, const Plane& in, double outside, Plane& out, ThreadPool& pool,
                CpuLevel level) {
  const AffinePlace place = affine_place(node, in.size());
  const bool nearest = std::get<Resample>(node.primitive).method == Resample::Method::nearest;
  const Results stored(out, level);
  for_blocks(out.size(), blocks_of(place, bytes_of(in.cls())), pool, [&](const Region& block) {
    static thread_local std::vector<float> numbers;  // one a column
    if (std::ssize(numbers) < block.x1) numbers.resize(static_cast<std::size_t>(out.size().width));
    alignas(64) std::byte memory[Part::room + Part::beyond];
    const Part part(place, block, in);
    if (part.is_copied()) {
      part.ask_for(in);
    } else {
      fetch_block(place, in, block);
    }
    AffineRow row{.outside = outside};
    part.take(in, memory, row);
    for (std::int64_t v = block.y0; v < block.y1; ++v) {
      to_row(place, block, v, row);
      if (nearest) {
        warp_row(in.cls(), true, level)(row, numbers.data());
      } else {
        warp_in_vectors(row, in.cls(), level, numbers.data());
      }
      stored.store(block.x0, v, numbers.data() + block.x0, block.width());
    }
    stored.end();
  });
}

// Copies the pixels at byte `offsets` of `data`; all: none is -1, for which there is `beside`.
template <class T>
void pick_at(std::byte* out, const std::byte* data, const std::int32_t* offsets, std::int64_t n,
             bool all, const std::byte* beside) {
  if (all) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)), data + offsets[i], sizeof(T));
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)),
                offsets[i] < 0 ? beside : data + offsets[i], sizeof(T));
  }
}
using PickAt = void (*)(std::byte*, const std::byte*, const std::int32_t*, std::int64_t, bool,
                        const std::byte*);

// The nearest pixels of all channels, which lie at the same places: these are found once, and
// pixels are copied as they are.
class Nearest {
 public:
  Nearest(const Node& node, std::span<const Plane* const> in, double outside,
          std::span<Plane* const> out, CpuLevel level)
      : in_(in),
        out_(out),
        level_(level),
        place_(affine_place(node, in[0]->size())),
        pixel_(bytes_of(in[0]->cls())),
        pick_(pixel_ == 1   ? pick_at<std::uint8_t>
              : pixel_ == 2 ? pick_at<std::uint16_t>
                            : pick_at<std::uint32_t>),
        spills_(pixel_ > 1 &&
                std::ssize(out) * out[0]->size().height * out[0]->row_bytes() > kept_in_caches) {
    const PixelClass cls = out[0]->cls();
    float number = static_cast<float>(outside);
    if (cls == PixelClass::logical) number = number >= 0.5f ? 1.0f : 0.0f;
    store_row(beside_, &number, cls, 1, level);
  }

  // Whether the planes are laid out alike, and places in them are numbers of 32 bits.
  static bool fits(std::span<const Plane* const> in, std::span<Plane* const> out) {
    const Plane& first = *in[0];
    const auto alike = [&](const Plane* plane) {
      return plane->stride() == first.stride() && plane->size() == first.size() &&
             plane->cls() == first.cls();
    };
    return std::ranges::all_of(in, alike) && out[0]->cls() == first.cls() &&
           first.stride() * first.size().height <= std::numeric_limits<std::int32_t>::max();
  }

  void run(ThreadPool& pool) const {
    for_blocks(out_[0]->size(), blocks_of(place_, pixel_), pool,
               [&](const Region& block) { run_block(block); });
  }

 private:
  // A channel is asked for while the one before it is worked on.
  void run_block(const Region& block) const {
    const Part part(place_, block, *in_[0]);
    std::int32_t offsets[most_pixels];  // of a row behind those of the one before
    bool all[most_rows];
    alignas(64) std::byte memory[Part::room + Part::beyond];
    ask_for(part, 0, block);
    AffineRow row;
    part.take(*in_[0], memory, row);
    for (std::int64_t v = block.y0; v < block.y1; ++v) {
      to_row(place_, block, v, row);
      const std::int64_t r = v - block.y0;
      all[r] = nearest_offsets(row, pixel_, level_, offsets + r * block.width());
    }
    for (std::size_t c = 0; c < in_.size(); ++c) {
      if (c > 0) part.take(*in_[c], memory, row);
      if (c + 1 < in_.size()) ask_for(part, c + 1, block);
      for (std::int64_t v = block.y0; v < block.y1; ++v) {
        const std::int64_t r = v - block.y0;
        store(c, block, v, row.data, offsets + r * block.width(), all[r]);
      }
    }
    if (spills_) end_streams();
  }

  [[gnu::always_inline]] void ask_for(const Part& part, std::size_t c, const Region& block) const {
    if (part.is_copied()) {
      part.ask_for(*in_[c]);
    } else {
      fetch_block(place_, *in_[c], block);
    }
  }

  void store(std::size_t c, const Region& block, std::int64_t v, const std::byte* data,
             const std::int32_t* offsets, bool all) const {
    std::byte* to = out_[c]->row(v) + block.x0 * pixel_;
    if (!spills_) return pick_(to, data, offsets, block.width(), all, beside_);
    alignas(64) std::byte pixels[most_columns * sizeof(float)];
    pick_(pixels, data, offsets, block.width(), all, beside_);
    stream_row(to, pixels, block.width() * pixel_, level_);
  }

  std::span<const Plane* const> in_;
  std::span<Plane* const> out_;
  CpuLevel level_;
  AffinePlace place_;
  int pixel_;  // bytes
  PickAt pick_;
  bool spills_;
  std::byte beside_[sizeof(float)] = {};  // the pixel outside
};

// Any map: places first, then what lies there.
void run_map(const Node& node, const Plane& in, double outside, Plane& out, ThreadPool& pool,
             CpuLevel level) {
  const Resample& resample = std::get<Resample>(node.primitive);
  const MappedPlace place = mapped_place(node, in.size());
  const MapRow row = map_row(in.cls(), resample, level);
  const Results stored(out, level);
  for_blocks(out.size(), Blocks{}, pool, [&](const Region& block) {
    float numbers[most_columns];
    fetch_block(place, in, block);
    MapPart made{.place = &place,
                 .data = in.row(0),
                 .stride = in.stride(),
                 .width = in.size().width,
                 .height = in.size().height,
                 .first = block.x0,
                 .n = block.width(),
                 .outside = static_cast<float>(outside)};
    for (made.row = block.y0; made.row < block.y1; ++made.row) {
      row(made, numbers);
      stored.store(block.x0, made.row, numbers, block.width());
    }
    stored.end();
  });
}

}  // namespace

void run_resample(const Node& node, std::span<const Plane* const> in, double outside,
                  std::span<Plane* const> out, ThreadPool& pool, CpuLevel level) {
  const Resample& resample = std::get<Resample>(node.primitive);
  const bool resizes = resample.kind == Resample::Kind::resize;
  const bool affine = !resizes && is_plain_affine(resample);
  if (affine && resample.method == Resample::Method::nearest && Nearest::fits(in, out)) {
    return Nearest(node, in, outside, out, level).run(pool);
  }
  pool.for_each(std::ssize(in), [&](std::int64_t c) {
    if (resizes) return Resize(node, *in[c], *out[c], level).run(pool);
    (affine ? run_affine : run_map)(node, *in[c], outside, *out[c], pool, level);
  });
}

}  // namespace impipe::cpu
