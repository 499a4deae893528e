// block: an image of the means, medians or other values of blocks.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/page_operation.hpp"
#include "core/plane_rows.hpp"
#include "core/shared_pool.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

enum class BlockValue { mean, max, min, median, sum, std };

// NaN lies behind all numbers.
bool is_before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end(), is_before);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle, is_before) + *middle) / 2;
}

// Of the sample: n - 1.
double deviation(const std::vector<double>& values) {
  if (values.size() == 1) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1));
}

double value_of(BlockValue value, std::vector<double>& values) {
  switch (value) {
    case BlockValue::max: return *std::max_element(values.begin(), values.end(), is_before);
    case BlockValue::min: return *std::min_element(values.begin(), values.end(), is_before);
    case BlockValue::median: return median(values);
    case BlockValue::std: return deviation(values);
    case BlockValue::sum: return std::accumulate(values.begin(), values.end(), 0.0);
    case BlockValue::mean: break;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Blocks of this size, the first of which begins at the upper left; the last ones have fewer
// pixels.
struct Blocks {
  Size block;

  Size size(Size of) const {
    return {(of.width + block.width - 1) / block.width,
            (of.height + block.height - 1) / block.height};
  }

  void make(BlockValue value, const Plane& from, Plane& to) const {
    for_each_shared(to.size().height, [&](std::int64_t row) {
      std::vector<double> values, results(static_cast<std::size_t>(to.size().width));
      for (std::int64_t column = 0; column < to.size().width; ++column) {
        gather(from, row, column, values);
        results[static_cast<std::size_t>(column)] = value_of(value, values);
      }
      store_row(results.data(), to, row);
    });
  }

  void gather(const Plane& from, std::int64_t row, std::int64_t column,
              std::vector<double>& values) const {
    const std::int64_t bottom = std::min(from.size().height, (row + 1) * block.height);
    const std::int64_t left = column * block.width;
    const std::int64_t right = std::min(from.size().width, left + block.width);
    values.clear();
    with_pixel(from.cls(), [&]<class T>(T) {
      for (std::int64_t y = row * block.height; y < bottom; ++y) {
        const T* pixels = from.row_as<T>(y);
        values.insert(values.end(), pixels + left, pixels + right);
      }
    });
  }
};

ImageValue of_blocks(const Call& call, PlanBuilder& plan, const ImageValue& image, BlockValue value,
                     Result result, std::string_view part) {
  const std::vector<double>& sides = call.numbers("size");
  const Blocks blocks{
      {static_cast<std::int64_t>(sides.back()), static_cast<std::int64_t>(sides.front())}};
  const auto make = [=](std::span<const Planes> images, Planes& made) {
    for (std::size_t c = 0; c < made.size(); ++c) {
      blocks.make(value, images.front()[c], made[c]);
    }
  };
  return on_host(call, plan, {image}, result,
                 {.name = std::string(part),
                  .size = [=](std::span<const Size> sizes) { return blocks.size(sizes[0]); },
                  .make = make,
                  .bytes_a_pixel = sizeof(double)});
}

ImageValue lower_block(const Call& call, PlanBuilder& plan) {
  // In the order of BlockValue.
  static constexpr std::array<std::string_view, 6> operations = {"mean",   "max", "min",
                                                                 "median", "sum", "std"};
  const auto found = std::ranges::find(operations, call.word("operation"));
  const auto value = static_cast<BlockValue>(found - operations.begin());
  const ImageValue image = plan.current();
  Result result = like(image);
  const bool is_sum = value == BlockValue::sum;
  if (is_sum || value == BlockValue::std) result.cls = PixelClass::single;
  if (is_sum) result.white = 0;
  const ImageValue made = of_blocks(call, plan, image, value, result, "");
  if (image.alpha < 0) return made;
  const ImageValue alpha = plan.alpha_of(image);
  return made.with_alpha(of_blocks(call, plan, alpha, BlockValue::mean, like(alpha), "alpha").id);
}

const RegisterOperator block_operator{{
    .name = "block",
    .help = "one pixel of each block of pixels: their mean, median, largest value and others",
    .parameters = {{.name = "operation",
                    .help = "of the values in a block",
                    .words = {"mean", "max", "min", "median", "std", "sum"},
                    .required = true},
                   {.name = "size",
                    .letter = 'k',
                    .help = "rows,columns of a block; one number: a square",
                    .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 1e6},
                    .required = true}},
    .details =
        R"(ceil(H / rows) x ceil(W / columns) pixels. Blocks begin at the upper left; those that the image's
border cuts have the pixels that there are. mean, max, min and median keep class and white and are
rounded once, ties up (logical: >= 0.5); of an even number of values the median is the mean of the two
middle ones. sum is single without a white; std, with n - 1 (one value: 0), is single and keeps the
white. Sums are exact for integers and in double for single. Alpha is averaged; colours that it hides
take part. On the host.)",
    .example = "block median 8",
    .accuracy = "exact; std, and mean and sum of single, 1e-6 relative",
    .not_finite = {NotFinite::Rule::last, "mean, sum and std by the formula"},
    .matlab = "blockproc(A,[m n],@(b) mean(b.data,'all')) (same without padding)",
    .lower = lower_block,
}};

}  // namespace
}  // namespace impipe::ops
