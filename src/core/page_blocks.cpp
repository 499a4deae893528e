// Statistics of the blocks of an image, from a block's values as doubles.
#include "core/page_operation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/plane_rows.hpp"

namespace impipe {
namespace {

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

class Blocks {
 public:
  Blocks(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}

  Size size(Size of) const {
    return {(of.width + columns_ - 1) / columns_, (of.height + rows_ - 1) / rows_};
  }

  void make(BlockValue value, const Plane& from, Plane& to, ThreadPool& pool) const {
    pool.for_each(to.size().height, [&](std::int64_t row) {
      std::vector<double> values, results(static_cast<std::size_t>(to.size().width));
      for (std::int64_t column = 0; column < to.size().width; ++column) {
        gather(from, row, column, values);
        results[static_cast<std::size_t>(column)] = value_of(value, values);
      }
      store_row(results.data(), to, row);
    });
  }

 private:
  void gather(const Plane& from, std::int64_t row, std::int64_t column,
              std::vector<double>& values) const {
    const std::int64_t bottom = std::min(from.size().height, (row + 1) * rows_);
    const std::int64_t left = column * columns_;
    const std::int64_t right = std::min(from.size().width, left + columns_);
    values.clear();
    with_pixel(from.cls(), [&]<class T>(T) {
      for (std::int64_t y = row * rows_; y < bottom; ++y) {
        const T* pixels = from.row_as<T>(y);
        values.insert(values.end(), pixels + left, pixels + right);
      }
    });
  }

  const std::int64_t rows_, columns_;
};

}  // namespace

Volume block_pages(BlockValue value, std::int64_t rows, std::int64_t columns) {
  const Blocks blocks(rows, columns);
  const bool sums = value == BlockValue::sum;
  const bool is_single = sums || value == BlockValue::std;
  return each_page({.type =
                        [=](ImageType type) {
                          if (is_single) type.cls = PixelClass::single;
                          if (sums) type.white = 0;
                          return type;
                        },
                    .size = [=](Size of) { return blocks.size(of); },
                    .make =
                        [=](const HostImage& page, HostImage& result, ThreadPool& pool) {
                          for (std::size_t c = 0; c < page.planes.size(); ++c) {
                            blocks.make(value, page.planes[c], result.planes[c], pool);
                          }
                          if (result.alpha.empty()) return;
                          blocks.make(BlockValue::mean, page.alpha, result.alpha, pool);
                        },
                    .bytes_a_pixel = 8});
}

}  // namespace impipe
