// Reductions but sums of integers: extremes, and 32x32 cells of doubles.
#include <limits>
#include <list>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/sink.hpp"
#include "core/plane_rows.hpp"
#include "core/row_evaluator.hpp"

namespace impipe::cpu {
namespace {

template <class T>
struct All {
  using Value = T;
  static IMPIPE_INLINE T of(T v) { return v; }
};
struct Finite {
  using Value = float;
  static IMPIPE_INLINE float of(float v) {
    const float apart = v - v;
    return apart == 0 ? v : std::numeric_limits<float>::quiet_NaN();
  }
};

// best[i] becomes the smaller or larger of itself and Map's value of in[i]; NaN gives way.
template <class Map, bool largest>
IMPIPE_INLINE void extremes(void* best_so_far, const void* values, std::int64_t n) {
  using T = typename Map::Value;
  T* __restrict best = static_cast<T*>(best_so_far);
  const T* __restrict in = static_cast<const T*>(values);
  for (std::int64_t i = 0; i < n; ++i) {
    const T v = Map::of(in[i]);
    const bool better = largest ? v > best[i] : v < best[i];
    best[i] = (better | (best[i] != best[i])) ? v : best[i];
  }
}
template <class Map>
IMPIPE_INLINE void lower_body(void* best, const void* in, std::int64_t n) {
  extremes<Map, false>(best, in, n);
}
template <class Map>
IMPIPE_INLINE void raise_body(void* best, const void* in, std::int64_t n) {
  extremes<Map, true>(best, in, n);
}
IMPIPE_CPU_KERNEL(lower, (void* best, const void* in, std::int64_t n), (best, in, n))
IMPIPE_CPU_KERNEL(raise, (void* best, const void* in, std::int64_t n), (best, in, n))

struct Identity {
  static IMPIPE_INLINE double of(double v, double) { return v; }
};
struct Absolute {
  static IMPIPE_INLINE double of(double v, double) { return bodies::abs(v); }
};
struct SquaredDeviation {
  static IMPIPE_INLINE double of(double v, double from) { return (v - from) * (v - from); }
};
struct One {
  static IMPIPE_INLINE double of(double, double) { return 1; }
};
// What Map makes of finite values, 0 of others.
template <class Map>
struct OfFinite {
  static IMPIPE_INLINE double of(double v, double from) {
    const double made = Map::of(v, from);
    return v - v == 0 ? made : 0;
  }
};

// Adds up columns in double, downward.
template <class T, class Map>
IMPIPE_INLINE void add_columns_body(double* __restrict sums, const std::byte* in,
                                    std::int64_t stride, std::int64_t rows,
                                    const double* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) sums[i] = 0;
  for (std::int64_t y = 0; y < rows; ++y) {
    const T* __restrict row = reinterpret_cast<const T*>(in + y * stride);
    for (std::int64_t i = 0; i < n; ++i) {
      sums[i] += Map::of(static_cast<double>(row[i]), from[i]);
    }
  }
}
// values[i] = values[2i] + values[2i + 1]
template <class...>
IMPIPE_INLINE void add_pairs_body(double* values, std::int64_t pairs) {
  constexpr int block = 8;  // read before it is written: the results lie among the values
  std::int64_t i = 0;
  for (; i + block <= pairs; i += block) {
    double sums[block];
    for (int k = 0; k < block; ++k) sums[k] = values[2 * (i + k)] + values[2 * (i + k) + 1];
    for (int k = 0; k < block; ++k) values[i + k] = sums[k];
  }
  for (; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
}
IMPIPE_CPU_KERNEL(add_pairs, (double* values, std::int64_t pairs), (values, pairs))

IMPIPE_CPU_KERNEL(add_columns,
                  (double* sums, const std::byte* in, std::int64_t stride, std::int64_t rows,
                   const double* from, std::int64_t n),
                  (sums, in, stride, rows, from, n))

using AddColumns = void (*)(double*, const std::byte*, std::int64_t, std::int64_t, const double*,
                            std::int64_t);

template <class Map>
AddColumns add_columns_for(PixelClass cls, int level) {
  return with_pixel(cls, [&](auto pixel) { return add_columns<decltype(pixel), Map>[level]; });
}

#define IMPIPE_KERNELS "backends/cpu/measure/reduce.inc"
#include "backends/cpu/simd/vector_levels.inc"

AddColumns add_columns_of(const Reduce& reduce, PixelClass cls, CpuLevel level) {
  const int l = static_cast<int>(level);
  const ReduceKind kind = reduce.kind;
  if (reduce.finite && cls == PixelClass::single) {
    if (kind == ReduceKind::count) return add_columns<float, OfFinite<One>>[l];
    return kind == ReduceKind::sum ? add_columns<float, OfFinite<Identity>>[l]
                                   : add_columns<float, OfFinite<Absolute>>[l];
  }
#if IMPIPE_HAS_INTRINSICS
  if (kind == ReduceKind::sum && cls == PixelClass::single && level != CpuLevel::baseline) {
    return level == CpuLevel::v4 ? v4::add_single_columns : v3::add_single_columns;
  }
#endif
  if (kind == ReduceKind::sum) return add_columns_for<Identity>(cls, l);
  if (kind == ReduceKind::absolute_sum) return add_columns_for<Absolute>(cls, l);
  if (kind == ReduceKind::count) return add_columns_for<One>(cls, l);
  return add_columns_for<SquaredDeviation>(cls, l);
}

// The smallest or largest value; NaN is skipped unless there is nothing else.
class Extreme final : public Sink {
 public:
  Extreme(const Reduce& reduce, const SinkImage& image, std::int64_t tiles, CpuLevel level)
      : largest_(reduce.kind == ReduceKind::max),
        finite_(reduce.finite),
        image_(image),
        level_(level),
        best_(static_cast<std::size_t>(tiles), std::numeric_limits<double>::quiet_NaN()) {}

  void take(const TileImage* images, const Region& region, std::int64_t tile, int,
            Scratch& scratch) override {
    const TileImage& image = *images;
    if (image_.cls == PixelClass::single && finite_) {
      return take_as<Finite>(image, region, tile, scratch);
    }
    with_pixel(image_.cls,
               [&](auto pixel) { take_as<All<decltype(pixel)>>(image, region, tile, scratch); });
  }

  std::vector<double> finish() override {
    double best = best_[0];
    for (const double of_tile : best_) include(best, of_tile);
    return {best + 0.0};  // of 0 and -0 neither is the smaller
  }

 private:
  void include(double& best, double value) const {
    if ((largest_ ? value > best : value < best) || best != best) best = value;
  }

  template <class Map>
  void take_as(const TileImage& image, const Region& region, std::int64_t tile, Scratch& scratch) {
    using T = typename Map::Value;
    const ScratchScope scope(scratch);
    const std::int64_t n = region.width();
    T* best = scratch.take<T>(n);
    const T* first = reinterpret_cast<const T*>(image.at(region.x0, region.y0));
    for (std::int64_t i = 0; i < n; ++i) best[i] = Map::of(first[i]);
    const auto update = (largest_ ? raise<Map> : lower<Map>)[static_cast<int>(level_)];
    for (std::int64_t y = region.y0 + 1; y < region.y1; ++y) {
      update(best, image.at(region.x0, y), n);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      include(best_[tile], static_cast<double>(best[i]));
    }
  }

  bool largest_, finite_;
  SinkImage image_;
  CpuLevel level_;
  std::vector<double> best_;  // [tiles]
};

// What a plane's cells hold, in row-major order of the cells.
class Cells {
 public:
  explicit Cells(const SinkImage& image)
      : across_((image.size.width + cell_side - 1) / cell_side),
        count_(across_ * ((image.size.height + cell_side - 1) / cell_side)),
        values_(static_cast<std::size_t>(count_)) {}
  double& at(std::int64_t x, std::int64_t y) {
    return values_[y / cell_side * across_ + x / cell_side];
  }
  double* all() { return values_.data(); }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t across_, count_;
  std::vector<double> values_;
};

// Sums in double, cell by cell.
class CellSum final : public Sink {
 public:
  CellSum(const Reduce& reduce, const Arguments& arguments, const SinkImage& image, CpuLevel level)
      : image_(image),
        cells_(image),
        level_(level),
        add_(add_columns_of(reduce, image.cls, level)),
        from_(static_cast<std::size_t>(image.size.width),
              reduce.kind == ReduceKind::squared_deviation ? arguments.in_double.at(0) : 0.0) {}

  void take(const TileImage* images, const Region& region, std::int64_t, int,
            Scratch& scratch) override {
    const TileImage& image = *images;
    const ScratchScope scope(scratch);
    const std::int64_t n = region.width();
    const std::int64_t padded = (region.width() + cell_side - 1) / cell_side * cell_side;
    double* sums = scratch.take<double>(padded);
    for (std::int64_t y0 = region.y0; y0 < region.y1; y0 += cell_side) {
      add_(sums, image.at(region.x0, y0), image.stride, std::min(cell_side, region.y1 - y0),
           from_.data(), n);
      // The columns of a row of cells, the last cell padded with zeros; then all cells' pairs.
      for (std::int64_t x = n; x < padded; ++x) sums[x] = 0;
      for (std::int64_t pairs = padded / 2; pairs >= padded / cell_side; pairs /= 2) {
        add_pairs<>[static_cast<int>(level_)](sums, pairs);
      }
      for (std::int64_t k = 0; k < padded / cell_side; ++k) {
        cells_.at(region.x0 + k * cell_side, y0) = sums[k];
      }
    }
  }

  std::vector<double> finish() override { return {pairwise_sum(cells_.all(), cells_.count())}; }

 private:
  SinkImage image_;
  Cells cells_;
  CpuLevel level_;
  AddColumns add_;
  std::vector<double> from_;  // what is subtracted from a row's elements
};

// A user's expression of acc and x, in the order of the cells.
class UserFold final : public Sink {
 public:
  UserFold(const Expression& expression, const Arguments& arguments, const SinkImage& image,
           CpuLevel level)
      : expression_(expression),
        image_(image),
        cells_(image),
        level_(level),
        arguments_(arguments.in_double) {}

  void take(const TileImage* images, const Region& region, std::int64_t, int,
            Scratch& scratch) override {
    const TileImage& image = *images;
    const ScratchScope scope(scratch);
    RowEvaluator<double> evaluator(expression_, level_);
    const std::int64_t n = region.width();
    double* acc = scratch.take<double>(n);
    double* next = scratch.take<double>(n);
    double* value = scratch.take<double>(n);
    for (std::int64_t y0 = region.y0; y0 < region.y1; y0 += cell_side) {
      std::fill_n(acc, n, arguments_.front());
      for (std::int64_t y = y0; y < std::min(y0 + cell_side, region.y1); ++y) {
        load_row(value, image.at(region.x0, y), image_.cls, n, level_);
        combine(evaluator, next, acc, value, n);
        std::swap(acc, next);
      }
      for (std::int64_t x0 = 0; x0 < n; x0 += cell_side) {
        cells_.at(region.x0 + x0, y0) = fold(evaluator, acc + x0, std::min(cell_side, n - x0));
      }
    }
  }

  std::vector<double> finish() override {
    RowEvaluator<double> evaluator(expression_, level_);
    return {fold(evaluator, cells_.all(), cells_.count())};
  }

 private:
  void combine(RowEvaluator<double>& evaluator, double* out, const double* acc, const double* x,
               std::int64_t n) const {
    std::vector<const double*> inputs;
    std::list<std::vector<double>> constants;
    const auto constant = [&](double value) {
      return constants.emplace_back(static_cast<std::size_t>(n), value).data();
    };
    for (const std::string& name : expression_.variables()) {
      const int argument = argument_index(name);
      inputs.push_back(argument >= 0     ? constant(arguments_[static_cast<std::size_t>(argument)])
                       : name == "acc"   ? acc
                       : name == "white" ? constant(image_.white)
                                         : x);
    }
    evaluator.run(out, inputs, n);
  }

  // In pairs; what has no partner goes on as it is.
  double fold(RowEvaluator<double>& evaluator, double* values, std::int64_t n) const {
    std::vector<double> even, odd, next;
    while (n > 1) {
      const std::int64_t pairs = n / 2;
      even.resize(pairs);
      odd.resize(pairs);
      next.resize(pairs);
      for (std::int64_t i = 0; i < pairs; ++i) {
        even[i] = values[2 * i];
        odd[i] = values[2 * i + 1];
      }
      combine(evaluator, next.data(), even.data(), odd.data(), pairs);
      if (n % 2 != 0) values[pairs] = values[n - 1];
      std::copy(next.begin(), next.end(), values);
      n = pairs + n % 2;
    }
    return values[0];
  }

  const Expression& expression_;
  SinkImage image_;
  Cells cells_;
  CpuLevel level_;
  std::vector<double> arguments_;  // what acc is at first, then those that the expression names
};

}  // namespace

double pairwise_sum(double* values, std::int64_t n) {
  if (n == 0) return 0;
  while (n > 1) {
    const std::int64_t pairs = n / 2;
    for (std::int64_t i = 0; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
    if (n % 2 != 0) values[pairs] = values[n - 1];
    n = pairs + n % 2;
  }
  return values[0];
}

std::unique_ptr<Sink> make_reduce(const Node& node, const Arguments& arguments,
                                  const SinkImage& image, std::int64_t tiles, CpuLevel level) {
  const Reduce& reduce = std::get<Reduce>(node.primitive);
  switch (reduce.kind) {
    case ReduceKind::min:
    case ReduceKind::max: return std::make_unique<Extreme>(reduce, image, tiles, level);
    case ReduceKind::user:
      return std::make_unique<UserFold>(*reduce.expression, arguments, image, level);
    case ReduceKind::sum:
    case ReduceKind::absolute_sum:
      if (is_integer(image.cls)) return make_code_sum(image, tiles, level);
      break;
    case ReduceKind::spread: return make_code_spread(image, tiles, level);
    case ReduceKind::count:
    case ReduceKind::squared_deviation: break;
  }
  return std::make_unique<CellSum>(reduce, arguments, image, level);
}

}  // namespace impipe::cpu
