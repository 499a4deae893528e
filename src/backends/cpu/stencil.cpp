// Stencil and separable nodes: float32 neighbourhoods, a tile at a time.
#include "backends/cpu/stencil.hpp"

#include "backends/cpu/border_view.hpp"
#include "backends/cpu/rows.hpp"
#include "backends/cpu/weighted_sum.hpp"

namespace impipe::cpu {
namespace {

// The set cells of a mask as offsets in elements of a row, and which row.
struct TapPlaces {
  std::vector<int> row;
  std::vector<std::int64_t> offset;
};

TapPlaces places_of(const Mask& mask, int channels) {
  TapPlaces out;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      out.row.push_back(y);
      out.offset.push_back(static_cast<std::int64_t>(x - mask.origin_x) * channels);
    }
  }
  return out;
}

// Rows of results: straight into the output when it is single, else through a row of floats.
class ResultRow {
 public:
  ResultRow(const Node& node, TileOut out, std::int64_t n, Scratch& scratch, CpuLevel level)
      : cls_(node.cls), out_(out), n_(n), level_(level) {
    if (cls_ != PixelClass::single) row_ = scratch.take<float>(n);
  }
  float* begin(std::int64_t y) {
    return row_ != nullptr ? row_ : reinterpret_cast<float*>(out_.data + y * out_.stride);
  }
  void end(std::int64_t y) {
    if (row_ != nullptr) store_row(out_.data + y * out_.stride, row_, cls_, n_, level_);
  }

 private:
  PixelClass cls_;
  TileOut out_;
  std::int64_t n_;
  CpuLevel level_;
  float* row_ = nullptr;
};

// Fills the rows of an expression's variables and taps.
class ExpressionRows {
 public:
  ExpressionRows(const Stencil& stencil, const Region& region, int channels, double white,
                 Size size, Scratch& scratch)
      : expression_(*stencil.expression), region_(region), channels_(channels), white_(white),
        size_(size), up_(stencil.footprint().up) {
    count_ = expression_.variables().size() + expression_.taps().size();
    inputs_ = scratch.take<const float*>(static_cast<std::int64_t>(count_));
    for (std::size_t v = 0; v < expression_.variables().size(); ++v) {
      own_.push_back(scratch.take<float>(region.width() * channels));
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
      inputs_[k++] = rows[up_ + tap.dy] + static_cast<std::int64_t>(tap.dx) * channels_;
    }
    return {inputs_, count_};
  }

 private:
  const float* place(const std::string& name, std::int64_t i, float* row) const {
    if (name == "col") {
      for (std::int64_t k = 0; k < region_.width() * channels_; ++k) {
        row[k] = static_cast<float>(region_.x0 + k / channels_);
      }
    } else {
      const double value = name == "row"      ? static_cast<double>(region_.y0 + i)
                           : name == "width"  ? static_cast<double>(size_.width)
                           : name == "height" ? static_cast<double>(size_.height)
                                              : white_;
      std::fill_n(row, region_.width() * channels_, static_cast<float>(value));
    }
    return row;
  }

  const Expression& expression_;
  const Region& region_;
  int channels_;
  double white_;
  Size size_;
  int up_;
  std::size_t count_;
  const float** inputs_;
  std::vector<float*> own_;
};

}  // namespace

void run_stencil(const Node& node, const Arguments& arguments, const TileImage& in,
                 const Region& region, double white, TileOut out, StencilState& state,
                 Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  const Reach reach = reach_of(node);
  const float* const* rows =
      float_rows(in, reach.under(region), reach.footprint.left,
                 {stencil.border, arguments.last()}, scratch, level);
  const int channels = in.channels;
  const std::int64_t n = region.width() * channels;
  ResultRow result(node, out, n, scratch, level);
  if (stencil.body != nullptr) {
    const StencilRow body = stencil.body->rows[static_cast<int>(level)];
    float* one = arguments.differ() ? scratch.take<float>(n) : nullptr;
    for (std::int64_t y = 0; y < region.height(); ++y) {
      float* to = result.begin(y);
      if (!arguments.differ()) {
        body(to, rows + y, n, channels, arguments.float_of(0).data());
      } else {
        for (int c = 0; c < channels; ++c) {
          body(one, rows + y, n, channels, arguments.float_of(c).data());
          for (std::int64_t i = c; i < n; i += channels) to[i] = one[i];
        }
      }
      result.end(y);
    }
  } else if (stencil.expression != nullptr) {
    if (state == nullptr) {
      state = std::make_unique<RowEvaluator<float>>(*stencil.expression, level);
    }
    ExpressionRows inputs(stencil, region, channels, white, in.size, scratch);
    for (std::int64_t y = 0; y < region.height(); ++y) {
      state->run(result.begin(y), inputs.at(rows + y, y), n);
      result.end(y);
    }
  } else {
    const TapPlaces places = places_of(stencil.taps, channels);
    const int count = static_cast<int>(places.row.size());
    auto** taps = scratch.take<const float*>(count);
    const float* weights = arguments.float_of(0).data();
    for (std::int64_t y = 0; y < region.height(); ++y) {
      for (int t = 0; t < count; ++t) taps[t] = rows[y + places.row[t]] + places.offset[t];
      weighted_sum(result.begin(y), taps, weights, count, n, level);
      result.end(y);
    }
  }
}

void run_separable(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const ScratchScope scope(scratch);
  const Separable& separable = std::get<Separable>(node.primitive);
  const Reach reach = reach_of(node);
  const int channels = in.channels;
  const std::int64_t n = region.width() * channels;
  const TapPlaces row_places = places_of(separable.row, channels);
  const TapPlaces column_places = places_of(separable.column, channels);
  const int row_count = static_cast<int>(row_places.row.size());
  const int column_count = static_cast<int>(column_places.row.size());
  const std::vector<float>& weights = arguments.float_of(0);
  const Outside outside{separable.border, arguments.last()};

  // The row pass, over the rows of the input that the column pass reads; the intermediate image
  // has the output's width and the input's height.
  const Region wanted = reach.under(region);
  const Region rows_read = inside({0, wanted.y0, 1, wanted.y1}, {1, in.size.height},
                                  separable.border);
  TileImage intermediate;
  intermediate.region = {region.x0, rows_read.y0, region.x1, rows_read.y1};
  intermediate.size = {in.size.width + separable.grow_x, in.size.height};
  intermediate.cls = PixelClass::single;
  intermediate.channels = channels;
  if (!intermediate.region.empty()) {
    const float* const* rows =
        float_rows(in, {wanted.x0, rows_read.y0, wanted.x1, rows_read.y1}, reach.footprint.left,
                   outside, scratch, level);
    intermediate.stride = (n * 4 + 63) / 64 * 64;
    std::byte* data = scratch.take<std::byte>(intermediate.stride * rows_read.height());
    intermediate.data = data;
    auto** taps = scratch.take<const float*>(row_count);
    for (std::int64_t y = 0; y < rows_read.height(); ++y) {
      for (int t = 0; t < row_count; ++t) taps[t] = rows[y] + row_places.offset[t];
      weighted_sum(reinterpret_cast<float*>(data + y * intermediate.stride), taps, weights.data(),
                   row_count, n, level);
    }
  }

  const float* const* rows = float_rows(intermediate, {region.x0, wanted.y0, region.x1, wanted.y1},
                                        0, outside, scratch, level);
  ResultRow result(node, out, n, scratch, level);
  auto** taps = scratch.take<const float*>(column_count);
  for (std::int64_t y = 0; y < region.height(); ++y) {
    for (int t = 0; t < column_count; ++t) taps[t] = rows[y + column_places.row[t]];
    weighted_sum(result.begin(y), taps, weights.data() + row_count, column_count, n, level);
    result.end(y);
  }
}

}  // namespace impipe::cpu
