// Weighted filters as stencil and separable primitives.
#include "ops/filter/correlate.hpp"

#include <algorithm>
#include <cmath>

#include "core/fourier_tiles.hpp"
#include "ops/alpha.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/matrix_file.hpp"

IMPIPE_POINT_BODY(whole_sum, (x), (), { return round_away(x); })

namespace impipe::ops {
namespace {

int anchor(int length) { return (length - 1) / 2; }

// The cells where the kernel is not 0, without the lines of zeros around them and the anchor.
Mask taps_of(const Matrix& kernel) {
  const int x = anchor(kernel.columns), y = anchor(kernel.rows);
  int left = x, right = x, up = y, down = y;
  const auto at = [&](int row, int column) {
    return kernel.values[static_cast<std::size_t>(row) * kernel.columns + column];
  };
  for (int row = 0; row < kernel.rows; ++row) {
    for (int column = 0; column < kernel.columns; ++column) {
      if (at(row, column) == 0) continue;
      left = std::min(left, column), right = std::max(right, column);
      up = std::min(up, row), down = std::max(down, row);
    }
  }
  Mask mask{.width = right - left + 1,
            .height = down - up + 1,
            .origin_x = x - left,
            .origin_y = y - up,
            .cells = {}};
  for (int row = up; row <= down; ++row) {
    for (int column = left; column <= right; ++column) {
      mask.cells.push_back(at(row, column) != 0 ? 1 : 0);
    }
  }
  return mask;
}

// All cells of the kernel, around its anchor.
Mask all_of(const Matrix& kernel) {
  return {.width = kernel.columns,
          .height = kernel.rows,
          .origin_x = anchor(kernel.columns),
          .origin_y = anchor(kernel.rows),
          .cells = std::vector<std::uint8_t>(kernel.values.size(), 1)};
}

void append_weights(std::vector<Arg>& args, const std::vector<double>& weights) {
  for (const double weight : weights) {
    if (weight != 0) args.push_back(weight);
  }
}

// How the size changes along one dimension, and which input place lies under the first output.
struct Change {
  int grow = 0, shift = 0;
};
Change change(Extent extent, int length) {
  switch (extent) {
    case Extent::same: return {};
    case Extent::full: return {length - 1, anchor(length) - (length - 1)};
    case Extent::valid: return {1 - length, anchor(length)};
  }
  return {};
}

// side: of the tiles whose Fourier transforms make the sums; 0: weight by weight. Transforms take
// all weights of the rectangle, those that are 0 too.
ImageValue one_pass(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                    const Correlation& how, int side = 0) {
  const Change x = change(how.extent, kernel.columns), y = change(how.extent, kernel.rows);
  std::vector<Arg> args;
  for (const double weight : kernel.values) {
    if (weight != 0 || side != 0) args.emplace_back(weight);
  }
  if (how.border == Border::constant) args.push_back(how.border_value);
  return plan.stencil({.taps = side == 0 ? taps_of(kernel) : all_of(kernel),
                       .border = how.border,
                       .grow_x = x.grow,
                       .grow_y = y.grow,
                       .shift_x = x.shift,
                       .shift_y = y.shift,
                       .fourier_side = side},
                      image, args, how.result);
}

// Whether transforms can make the sums. Results that are logical say whether a sum is 0, which
// their rounding would decide; weights that are no moderate numbers would spread over a tile.
bool fits_fourier(const Matrix& kernel, PixelClass result) {
  const bool moderate = std::all_of(kernel.values.begin(), kernel.values.end(), [](double weight) {
    return weight == 0 || (std::fabs(weight) >= 0x1p-60 && std::fabs(weight) <= 0x1p30);
  });
  return moderate && result != PixelClass::logical && fourier_side(kernel.columns, kernel.rows) > 0;
}

int terms_of(const Matrix& kernel) {
  return static_cast<int>(kernel.values.size()) -
         static_cast<int>(std::count(kernel.values.begin(), kernel.values.end(), 0.0));
}

// Whether all sums are whole numbers of at most 2^20, of which transforms are off by less than a
// half (decisions/0064).
bool has_whole_sums(const Matrix& kernel, const Correlation& how, PixelClass cls) {
  double sizes = 0;
  bool whole = is_integer(cls) && how.border_value == std::round(how.border_value);
  for (const double weight : kernel.values) {
    sizes += std::fabs(weight);
    whole &= weight == std::round(weight);
  }
  return whole && sizes * std::max(class_max(cls), std::fabs(how.border_value)) <= 0x1p20;
}

ImageValue by_fourier(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                      const Correlation& how) {
  const ImageValue sums =
      one_pass(plan, image, kernel, how, fourier_side(kernel.columns, kernel.rows));
  if (how.result.cls != PixelClass::single || !has_whole_sums(kernel, how, image.type.cls)) {
    return sums;
  }
  return plan.point(bodies::whole_sum, {sums}, {}, how.result);
}

// Whether a kernel of rank 1 is a box: its weights are equal. Logical results say whether a sum is
// 0, weight by weight; full ones are two steps.
bool is_box(const Matrix& kernel, const Correlation& how) {
  return how.result.cls != PixelClass::logical && how.extent != Extent::full &&
         std::ranges::all_of(kernel.values,
                             [&](double weight) { return weight == kernel.values.front(); });
}

// Whether the sums of codes under a box are made in whole numbers. Means of 3x3 bytes are as exact
// in floats, and GPUs pack them.
bool sums_in_any_order(const Matrix& kernel, PixelClass cls) {
  constexpr std::size_t small = 9;
  return is_integer(cls) && kernel.values.size() > small &&
         class_max(cls) * kernel.columns <= 0x1p24 &&
         class_max(cls) * static_cast<double>(kernel.values.size()) < 0x1p31;
}

// Rows, then columns.
ImageValue two_passes(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                      const RankOne& factors, const Correlation& how) {
  const Matrix row{1, static_cast<int>(factors.row.size()), factors.row};
  const Matrix column{static_cast<int>(factors.column.size()), 1, factors.column};
  if (how.extent == Extent::full) {
    // The row pass is larger than the image, so it is a step of its own.
    Correlation first = how;
    first.result = {.cls = PixelClass::single, .white = image.type.white};
    return one_pass(plan, one_pass(plan, image, row, first), column, how);
  }
  const Change x = change(how.extent, row.columns), y = change(how.extent, column.rows);
  const bool box = is_box(kernel, how) && !how.whole;
  std::vector<Arg> args;
  append_weights(args, row.values);
  append_weights(args, column.values);
  if (how.border == Border::constant) args.push_back(how.border_value);
  return plan.separable(
      {.row = taps_of(row),
       .column = taps_of(column),
       .border = how.border,
       .any_order = how.whole || (box && sums_in_any_order(kernel, image.type.cls)),
       .grow_x = x.grow,
       .grow_y = y.grow,
       .shift_x = x.shift,
       .shift_y = y.shift},
      image, args, how.result);
}

}  // namespace

Extent extent_named(std::string_view name) {
  return name == "full" ? Extent::full : name == "valid" ? Extent::valid : Extent::same;
}

ImageValue correlate(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                     const Correlation& how) {
  if (how.method == Method::fourier) return by_fourier(plan, image, kernel, how);
  // A row pass does not keep a constant border other than 0.
  const bool border_fits = how.border != Border::constant || how.border_value == 0;
  if (border_fits) {
    if (const auto factors = rank_one(kernel)) {
      return two_passes(plan, image, kernel, *factors, how);
    }
  }
  if (how.method == Method::automatic && fits_fourier(kernel, how.result.cls) &&
      pays_by_fourier(kernel.columns, kernel.rows, terms_of(kernel))) {
    return by_fourier(plan, image, kernel, how);
  }
  return one_pass(plan, image, kernel, how);
}

ImageValue correlate_colours(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                             const Correlation& how) {
  double sum = 0, sizes = 0;
  for (const double weight : kernel.values) {
    sum += weight;
    sizes += std::abs(weight);
  }
  const auto sums = [&](const ImageValue& x, double beside, Result result) {
    Correlation same = how;
    same.border_value = beside;
    same.result = result;
    return correlate(plan, x, kernel, same);
  };
  const bool same_size = how.extent == Extent::same;
  const Average average{.sums = sums,
                        .weight = sum,
                        .beside = how.border_value,
                        .opaque_beside = how.border == Border::constant && same_size};
  if (sum > 0 && (how.moves || sizes == sum)) return averaged(plan, image, average, how.result);
  if (same_size) return summed_beside_itself(plan, image, average, sizes, how.result);
  return correlate(plan, image, kernel, how);
}

Matrix rotated_half(const Matrix& kernel) {
  Matrix out = kernel;
  std::reverse(out.values.begin(), out.values.end());
  return out;
}

std::optional<RankOne> rank_one(const Matrix& kernel) {
  const auto largest =
      std::max_element(kernel.values.begin(), kernel.values.end(),
                       [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  if (largest == kernel.values.end() || *largest == 0) return std::nullopt;
  const auto place = static_cast<int>(largest - kernel.values.begin());
  const int pivot_row = place / kernel.columns, pivot_column = place % kernel.columns;
  RankOne out;
  for (int i = 0; i < kernel.rows; ++i) {
    out.column.push_back(kernel.values[i * kernel.columns + pivot_column]);
  }
  for (int j = 0; j < kernel.columns; ++j) {
    out.row.push_back(kernel.values[pivot_row * kernel.columns + j] / *largest);
  }
  // Far below the rounding of float32, far above that of the kernel's own values.
  const double tolerance = 1e-12 * std::fabs(*largest);
  int taps = 0;
  for (int i = 0; i < kernel.rows; ++i) {
    for (int j = 0; j < kernel.columns; ++j) {
      const double value = kernel.values[i * kernel.columns + j];
      const double product = out.column[i] * out.row[j];
      // Zeros must agree exactly: they say which pixels are read.
      if ((value == 0) != (out.column[i] == 0 || out.row[j] == 0)) return std::nullopt;
      if (std::fabs(value - product) > tolerance) return std::nullopt;
      taps += value != 0;
    }
  }
  const auto used = [](const std::vector<double>& v) {
    return static_cast<int>(v.size() - std::count(v.begin(), v.end(), 0.0));
  };
  if (taps <= used(out.row) + used(out.column)) return std::nullopt;  // one pass reads less
  return out;
}

Matrix kernel_argument(const Call& call, std::string_view parameter) {
  const ParameterValue& value = call.value(parameter);
  if (value.matrix) return *value.matrix;
  if (!value.path.empty()) return read_matrix_file(call, parameter);
  return named_kernel(call, parameter, value.word, value.numbers);
}

Parameter method_parameter() {
  return {.name = "method",
          .help =
              "how the sums are made: weight by weight, by Fourier transforms of tiles, or by "
              "these where the kernel is not of rank 1 and has 576 weights other than 0, or 192 "
              "in a rectangle of 2560",
          .words = {"auto", "direct", "fft"},
          .fallback = "auto"};
}

Method method_argument(const Call& call, const Matrix& kernel, PixelClass result) {
  const std::string& word = call.word("method");
  if (word != "fft") return word == "direct" ? Method::direct : Method::automatic;
  if (result == PixelClass::logical) {
    call.fail("method", "a logical result says whether a sum is 0: direct alone is that exact");
  }
  if (!fits_fourier(kernel, result)) {
    call.fail("method",
              "fft is for kernels of at most 640 rows and columns, whose weights are 0 or from "
              "2^-60 to 2^30");
  }
  return Method::fourier;
}

BorderArgument border_argument(const Call& call, std::string_view parameter, PixelClass cls) {
  const std::string& word = call.word(parameter);
  if (word == "replicate") return {Border::replicate, 0};
  if (word == "symmetric") return {Border::symmetric, 0};
  if (word == "reflect") return {Border::reflect, 0};
  if (word == "circular") return {Border::circular, 0};
  if (word == "zeros") return {Border::constant, 0};
  return {Border::constant, cast_to(cls, call.number(parameter))};
}

}  // namespace impipe::ops
