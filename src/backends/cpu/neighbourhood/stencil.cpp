// Stencil and separable nodes: float32 neighbourhoods, a tile at a time.
#include "backends/cpu/neighbourhood/stencil.hpp"

#include <optional>
#include <span>

#include "backends/cpu/neighbourhood/box_sums.hpp"
#include "backends/cpu/neighbourhood/separable_bytes.hpp"
#include "backends/cpu/neighbourhood/short_row.hpp"
#include "backends/cpu/neighbourhood/weighted_mean.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/weighted_sum.hpp"
#include "core/interruption.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

// The set cells of a mask as offsets in elements of a row, and which row.
struct TapPlaces {
  std::vector<int> row;
  std::vector<std::int64_t> offset;
};

TapPlaces places_of(const Mask& mask) {
  TapPlaces out;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      out.row.push_back(y);
      out.offset.push_back(x - mask.origin_x);
    }
  }
  return out;
}

// Rows of results: straight into the output when it is single and does not spill, else through rows
// of floats.
class ResultRows {
 public:
  ResultRows(PixelClass cls, TileOut out, std::int64_t n, int rows, Scratch& scratch,
             CpuLevel level)
      : cls_(cls), out_(out), n_(n), level_(level) {
    if (cls == PixelClass::single && !out.spills) return;
    for (int k = 0; k < rows; ++k) own_[k] = scratch.take<float>(n);
  }
  // Where row y goes, the k-th of those being made.
  float* begin(std::int64_t y, int k = 0) {
    return own_[k] != nullptr ? own_[k] : reinterpret_cast<float*>(out_.data + y * out_.stride);
  }
  void end(std::int64_t y, int k = 0) {
    if (own_[k] == nullptr) return;
    std::byte* row = out_.data + y * out_.stride;
    if (cls_ == PixelClass::single) {
      stream_row(row, reinterpret_cast<const std::byte*>(own_[k]), n_ * bytes_of(cls_), level_);
    } else {
      store_row(row, own_[k], cls_, n_, level_);
    }
  }

 private:
  PixelClass cls_;
  TileOut out_;
  std::int64_t n_;
  CpuLevel level_;
  float* own_[dense_rows] = {};
};

// Makes rows of a weighted sum over a mask, from the first to the last; rows of the view are asked
// for shortly before they are read.
class WeightedRows {
 public:
  // view row 0 is the mask's first row at output row 0; rows point at the output's first pixel.
  WeightedRows(const Mask& mask, const float* weights, RowView& view, std::int64_t n,
               Scratch& scratch, CpuLevel level, Combine combine = Combine::sum)
      : mask_(mask),
        weights_(weights),
        view_(view),
        n_(n),
        level_(level),
        combine_(combine),
        dense_(combine == Combine::sum && mask.full()),
        rows_(scratch.take<const float*>(view.height())) {
    if (dense_) return;
    places_ = places_of(mask);
    taps_ = scratch.take<const float*>(static_cast<std::int64_t>(places_.row.size()));
  }

  // Rows y to y + count - 1, where count is 1 or dense_rows, into to[0] ...
  void make(std::int64_t y, int count, float* const* to) {
    const std::int64_t shift = dense_ ? mask_.origin_x : 0;
    for (; known_ < y + count + mask_.height - 1; ++known_) {
      rows_[known_] = view_.float_row(known_) - shift;
    }
    if (dense_) {
      dense_sum(to, count, rows_ + y, weights_, mask_.width, mask_.height, n_, level_);
      return;
    }
    const int taps = static_cast<int>(places_.row.size());
    for (int k = 0; k < count; ++k) {
      for (int t = 0; t < taps; ++t) taps_[t] = rows_[y + k + places_.row[t]] + places_.offset[t];
      if (combine_ == Combine::sum) {
        sparse_sum(to[k], taps_, weights_, taps, n_, level_);
      } else {
        sparse_extremum(to[k], taps_, weights_, taps, combine_ == Combine::largest, n_, level_);
      }
    }
  }

 private:
  const Mask& mask_;
  const float* weights_;
  RowView& view_;
  std::int64_t n_;
  CpuLevel level_;
  Combine combine_;
  bool dense_;  // a sum over a full rectangle
  const float** rows_;
  std::int64_t known_ = 0;  // rows_ up to here are set
  TapPlaces places_;
  const float** taps_ = nullptr;
};

// All rows of a weighted sum, in the node's class.
void store_weighted(WeightedRows& rows, ResultRows& result, std::int64_t height) {
  for (std::int64_t y = 0; y < height;) {
    const int count = y + dense_rows <= height ? dense_rows : 1;
    float* to[dense_rows] = {};
    check_interruption();  // a tile of large elements takes seconds
    for (int k = 0; k < count; ++k) to[k] = result.begin(y + k, k);
    rows.make(y, count, to);
    for (int k = 0; k < count; ++k) result.end(y + k, k);
    y += count;
  }
}

// Makes rows of a column pass over whole numbers: their sums, each from the one above it, times a
// weight.
class BoxRows {
 public:
  BoxRows(int height, float weight, RowView& view, std::int64_t n, Scratch& scratch)
      : height_(height), weight_(weight), view_(view), n_(n), sums_(scratch.take<std::int32_t>(n)) {
    std::fill_n(sums_, n, 0);
  }
  // Row y into `to`; rows come in order.
  void make(std::int64_t y, float* to) {
    for (; known_ < y + height_; ++known_) {
      const float* more = view_.float_row(known_);
      for (std::int64_t i = 0; i < n_; ++i) sums_[i] += static_cast<std::int32_t>(more[i]);
    }
    if (y > 0) {
      const float* gone = view_.float_row(y - 1);
      for (std::int64_t i = 0; i < n_; ++i) sums_[i] -= static_cast<std::int32_t>(gone[i]);
    }
    for (std::int64_t i = 0; i < n_; ++i) to[i] = static_cast<float>(sums_[i]) * weight_;
  }

 private:
  int height_;
  float weight_;
  RowView& view_;
  std::int64_t n_;
  std::int64_t known_ = 0;  // rows up to here have been added
  std::int32_t* sums_;
};

// The column pass of a separable node, whose image's class is cls.
class ColumnPass {
 public:
  ColumnPass(const Separable& separable, const float* weights, PixelClass cls, RowView& view,
             std::int64_t n, Scratch& scratch, CpuLevel level)
      : weighted_(separable.column, weights, view, n, scratch, level) {
    if (separable.any_order && is_integer(cls)) {
      box_.emplace(separable.column.height, weights[0], view, n, scratch);
    }
  }
  // Rows that are made at once where so many are left.
  int rows() const { return box_ ? 1 : dense_rows; }
  // In order, rows y to y + count - 1, where count is 1 or rows().
  void make(std::int64_t y, int count, float* const* to) {
    if (box_) {
      box_->make(y, to[0]);
    } else {
      weighted_.make(y, count, to);
    }
  }

 private:
  WeightedRows weighted_;
  std::optional<BoxRows> box_;
};

// Fills the rows of an expression's variables and taps.
class ExpressionRows {
 public:
  ExpressionRows(const Stencil& stencil, const Arguments& arguments, const Region& region,
                 double white, Size size, Scratch& scratch)
      : expression_(*stencil.expression),
        arguments_(arguments),
        region_(region),
        white_(white),
        size_(size),
        up_(stencil.footprint().up) {
    count_ = expression_.variables().size() + expression_.taps().size();
    inputs_ = scratch.take<const float*>(static_cast<std::int64_t>(count_));
    for (std::size_t v = 0; v < expression_.variables().size(); ++v) {
      own_.push_back(scratch.take<float>(region.width()));
    }
  }

  // rows: the view's rows for output row i of the region.
  std::span<const float* const> at(const float* const* rows, std::int64_t i) {
    std::size_t k = 0;
    for (const std::string& name : expression_.variables()) {
      inputs_[k] = name == "x" ? rows[up_] : place(name, i, own_[k]);
      ++k;
    }
    for (const Tap& tap : expression_.taps()) {
      inputs_[k++] = rows[up_ + tap.dy] + tap.dx;
    }
    return {inputs_, count_};
  }

 private:
  const float* place(const std::string& name, std::int64_t i, float* row) const {
    if (name == "col") {
      for (std::int64_t k = 0; k < region_.width(); ++k) {
        row[k] = static_cast<float>(region_.x0 + k);
      }
    } else {
      const double value =
          name == "row"      ? static_cast<double>(region_.y0 + i)
          : name == "width"  ? static_cast<double>(size_.width)
          : name == "height" ? static_cast<double>(size_.height)
          : argument_index(name) >= 0
              ? arguments_.in_double[static_cast<std::size_t>(argument_index(name))]
              : white_;
      std::fill_n(row, region_.width(), static_cast<float>(value));
    }
    return row;
  }

  const Expression& expression_;
  const Arguments& arguments_;
  const Region& region_;
  double white_;
  Size size_;
  int up_;
  std::size_t count_;
  const float** inputs_;
  std::vector<float*> own_;
};

// Parts of a region side by side: rows at the image's sides are copied to have their neighbours,
// those between are read in place. Of rows that become numbers first there is one part.
class Strips {
 public:
  Strips(const Node& node, const TileImage& in, const Region& region, std::int64_t widest)
      : region_(region), width_(in.size.width), widest_(widest) {
    const Footprint reach = facts_of(node).footprint;
    several_ = in.cls == PixelClass::single && std::max(reach.left, reach.right) <= side;
    left_ = reach.left;
  }
  // Where the one ends that begins at x.
  std::int64_t end(std::int64_t x) const {
    if (!several_) return region_.x1;
    if (x == 0 && x < left_) return std::min(region_.x1, side);
    const std::int64_t last = region_.x1 == width_ ? region_.x1 - side : region_.x1;
    return x < last ? std::min(last, x + widest_) : region_.x1;
  }

 private:
  static constexpr std::int64_t side = 64;
  Region region_;
  std::int64_t width_, widest_;
  bool several_ = false;
  int left_ = 0;
};

// What a body reads: rows that lie one behind the other need not be asked for, since processors
// fetch ahead, and a body takes little more time than asking.
TileImage read_by_body(TileImage in, const Region& region) {
  in.far = in.far && 2 * region.width() < in.size.width;
  return in;
}

void stencil_strip(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, double white, TileOut out, StencilState& state,
                   Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  out.spills = false;  // whole rows of sums, copied, would not stay in the L1 cache
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  const PrimitiveFacts facts = facts_of(node);
  const std::int64_t n = region.width();
  RowView view(in, under(facts, region), facts.footprint.left, {stencil.border, arguments.last()},
               PixelClass::single, scratch, level);
  if (stencil.body == nullptr && stencil.expression == nullptr) {
    ResultRows result(node.cls, out, n, dense_rows, scratch, level);
    WeightedRows rows(stencil.taps, arguments.in_float.data(), view, n, scratch, level,
                      stencil.combine);
    store_weighted(rows, result, region.height());
    return;
  }
  ResultRows result(node.cls, out, n, 1, scratch, level);
  const std::int64_t reads = view.height() - region.height() + 1;  // rows a result row reads
  auto** rows = scratch.take<const float*>(view.height());
  for (std::int64_t i = 0; i + 1 < reads; ++i) rows[i] = view.float_row(i);
  if (stencil.body != nullptr) {
    const StencilRow body = stencil.body->rows[static_cast<int>(level)];
    for (std::int64_t y = 0; y < region.height(); ++y) {
      rows[y + reads - 1] = view.float_row(y + reads - 1);
      body(result.begin(y), rows + y, n, 1, arguments.in_float.data());
      result.end(y);
    }
    return;
  }
  if (state == nullptr) state = std::make_unique<RowEvaluator<float>>(*stencil.expression, level);
  ExpressionRows inputs(stencil, arguments, region, white, in.size, scratch);
  for (std::int64_t y = 0; y < region.height(); ++y) {
    rows[y + reads - 1] = view.float_row(y + reads - 1);
    state->run(result.begin(y), inputs.at(rows + y, y), n);
    result.end(y);
  }
}

}  // namespace

void run_stencil(const Node& node, const Arguments& arguments, const TileImage& in,
                 const Region& region, double white, TileOut out, StencilState& state,
                 Scratch& scratch, CpuLevel level) {
  if (run_weighted_mean(node, arguments, in, region, out, scratch, level)) return;
  const Strips strips(node, in, region, region.width());
  const bool body = std::get<Stencil>(node.primitive).body != nullptr;
  const TileImage from_image = body ? read_by_body(in, region) : in;
  for (std::int64_t x = region.x0, end = 0; x < region.x1; x = end) {
    end = body ? strips.end(x) : region.x1;
    const std::int64_t from = (x - region.x0) * bytes_of(node.cls);
    stencil_strip(node, arguments, from_image, {x, region.y0, end, region.y1}, white,
                  {out.data + from, out.stride, out.spills}, state, scratch, level);
  }
}

namespace {

// Whether the row pass reads rows of the image's own class, of few taps.
bool has_short_rows(const Separable& separable, PixelClass cls, double outside, std::int64_t n,
                    CpuLevel level) {
  // A border value that is no code needs rows of floats.
  return separable.row.full() && (separable.border != Border::constant || is_code(outside, cls)) &&
         has_short_row_sum(cls, separable.row.width, n, level);
}

// The rows of an image that its rows y0 to y1 - 1 are read from.
Region rows_for(std::int64_t y0, std::int64_t y1, std::int64_t height, Border border) {
  return inside({0, y0, 1, y1}, {1, height}, border);
}

void separable_strip(const Node& node, const Arguments& arguments, const TileImage& in,
                     const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const Separable& separable = std::get<Separable>(node.primitive);
  const PrimitiveFacts facts = facts_of(node);
  const std::int64_t n = region.width();
  const std::vector<float>& weights = arguments.in_float;
  const Outside outside{separable.border, arguments.last()};

  // The row pass makes an intermediate image of the output's width and the input's height: those
  // rows of it that the column pass reads, a few at a time, shortly before they are read.
  const Region wanted = under(facts, region);
  const Region rows_read = rows_for(wanted.y0, wanted.y1, in.size.height, separable.border);
  const Region made{region.x0, rows_read.y0, region.x1, rows_read.y1};
  // An odd number of lines: rows under each other lie in other sets of the L1 cache.
  const std::int64_t stride = ((n * 4 + 63) / 64 | 1) * 64;
  std::byte* data = scratch.take<std::byte>(stride * made.height());
  const TileImage intermediate{
      data, stride, made, {in.size.width + separable.grow_x, in.size.height}, PixelClass::single};
  const bool one_by_one = has_short_rows(separable, in.cls, outside.value, n, level);
  RowView input(in, {wanted.x0, made.y0, wanted.x1, made.y1}, facts.footprint.left, outside,
                one_by_one ? in.cls : PixelClass::single, scratch, level);
  WeightedRows row_pass(separable.row, weights.data(), input, n, scratch, level);
  std::int64_t done = 0;
  const auto make_rows_to = [&](std::int64_t end) {
    while (done < std::min(end, made.height())) {
      float* to[dense_rows] = {};
      const int count = one_by_one || done + dense_rows > made.height() ? 1 : dense_rows;
      for (int k = 0; k < count; ++k) {
        to[k] = reinterpret_cast<float*>(data + (done + k) * stride);
      }
      if (one_by_one) {
        const std::byte* row = input.row(done) - facts.footprint.left * bytes_of(in.cls);
        short_row_sum(to[0], row, in.cls, weights.data(), separable.row.width, n, level);
      } else {
        row_pass.make(done, count, to);
      }
      done += count;
    }
  };

  RowView view(intermediate, {region.x0, wanted.y0, region.x1, wanted.y1}, 0, outside,
               PixelClass::single, scratch, level);
  ColumnPass column_pass(separable, weights.data() + separable.row.count(), in.cls, view, n,
                         scratch, level);
  ResultRows result(node.cls, out, n, dense_rows, scratch, level);
  for (std::int64_t y = 0; y < region.height();) {
    const int count = y + column_pass.rows() <= region.height() ? column_pass.rows() : 1;
    // Borders fold rows back by at most what lies outside.
    const Region read = rows_for(wanted.y0, wanted.y0 + y + count + separable.column.height - 1,
                                 in.size.height, separable.border);
    make_rows_to(read.y1 - made.y0);
    float* to[dense_rows] = {};
    for (int k = 0; k < count; ++k) to[k] = result.begin(y + k, k);
    column_pass.make(y, count, to);
    for (int k = 0; k < count; ++k) result.end(y + k, k);
    y += count;
  }
}

}  // namespace

void run_separable(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const SeparableQuestion question{node, arguments, in.cls, region.width(), level};
  switch (separable_offers(question).front().method) {
    case SeparableMethod::small_box:
      return run_small_box(node, arguments, in, region, out, scratch, level);
    case SeparableMethod::running_box:
      return run_running_box(node, arguments, in, region, out, scratch, level);
    case SeparableMethod::bytes:
      return run_separable_bytes(node, arguments, in, region, out, scratch, level);
    case SeparableMethod::floats: break;
  }
  // As far to the right as the few rows that the column pass reads stay close.
  constexpr std::int64_t widest = 512;
  const Strips strips(node, in, region, widest);
  for (std::int64_t x = region.x0, end = 0; x < region.x1; x = end) {
    end = strips.end(x);
    const std::int64_t from = (x - region.x0) * bytes_of(node.cls);
    separable_strip(node, arguments, in, {x, region.y0, end, region.y1},
                    {out.data + from, out.stride, out.spills}, scratch, level);
  }
}

}  // namespace impipe::cpu
