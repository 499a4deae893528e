// normxcorr2: normalised cross-correlation, which finds a template in an image.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/page_operation.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

std::vector<double> values_of(const Plane& plane) {
  std::vector<double> out(static_cast<std::size_t>(plane.size().pixels()));
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    load_row(plane, y, out.data() + y * plane.size().width);
  }
  return out;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// A template minus its mean, and its norm.
struct Pattern {
  Size size;
  std::vector<double> values;
  double length = 0;  // the norm; 0: the template is constant
  // Integral image: sums of all values above a row and left of a column.
  std::vector<double> before;

  explicit Pattern(const Plane& plane) : size(plane.size()), values(values_of(plane)) {
    const auto [least, largest] = std::ranges::minmax(values);
    const double mean = sum_of(values) / static_cast<double>(size.pixels());
    double squares = 0;
    for (double& value : values) {
      value -= mean;
      squares += value * value;
    }
    if (least < largest) length = std::sqrt(squares);
    before.resize(static_cast<std::size_t>((size.width + 1) * (size.height + 1)));
    for (std::int64_t y = 0; y < size.height; ++y) {
      double row = 0;
      for (std::int64_t x = 0; x < size.width; ++x) {
        row += values[static_cast<std::size_t>(y * size.width + x)];
        before[place(x + 1, y + 1)] = before[place(x + 1, y)] + row;
      }
    }
  }
  std::size_t place(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * (size.width + 1) + x);
  }
};

// The columns (or rows) of the template inside an image of n columns when its last one is at i.
struct Inside {
  std::int64_t begin = 0, end = 0;
  Inside(std::int64_t i, std::int64_t length, std::int64_t n)
      : begin(std::max<std::int64_t>(0, length - 1 - i)),
        end(std::min(length, n + length - 1 - i)) {}
  std::int64_t count() const { return end - begin; }
};

// The normalised correlation of one image with a template. The image's mean is subtracted first,
// rounded for integer classes, whose sums then are integers below 2^53 and exact.
class Correlator {
 public:
  Correlator(const Plane& image, const Plane& pattern)
      : size_(image.size()),
        pattern_(pattern),
        whole_(is_integer(image.cls())),
        values_(static_cast<std::size_t>(size_.pixels())) {
    std::vector<double> sums(static_cast<std::size_t>(size_.height)), least(sums), largest(sums);
    for_each_part(size_.height, [&](std::int64_t y) {
      double* row = values_.data() + y * size_.width;
      load_row(image, y, row);
      const auto at = static_cast<std::size_t>(y);
      double sum = 0, low = row[0], high = row[0];
      for (std::int64_t x = 0; x < size_.width; ++x) {
        sum += row[x];
        low = row[x] < low ? row[x] : low;
        high = row[x] > high ? row[x] : high;
      }
      sums[at] = sum, least[at] = low, largest[at] = high;
    });
    const double low = std::ranges::min(least), high = std::ranges::max(largest);
    middle_ = sum_of(sums) / static_cast<double>(size_.pixels());
    if (whole_) middle_ = std::round(middle_);
    for_each_part(size_.height, [&](std::int64_t y) {
      double* row = values_.data() + y * size_.width;
      for (std::int64_t x = 0; x < size_.width; ++x) row[x] -= middle_;
    });
    scale_ = std::max(high - middle_, middle_ - low);
    const auto n = static_cast<double>(pattern_.size.pixels());
    const double most = std::max(high, -low);
    if (!whole_) flat_ = 1e-10 * n * most * most;
    exact_ = !whole_ || n * n * most * most < 0x1p53;
  }

  void run(Plane& result) const {
    if (pattern_.length == 0 || scale_ == 0) {
      if (pattern_.length > 0 && middle_ != 0) return finish(result, false);
      return fill(result, 0);
    }
    correlate(result);
    finish(result, true);
  }

  static void fill(Plane& result, float value) {
    for (std::int64_t y = 0; y < result.size().height; ++y) {
      std::fill_n(result.row_as<float>(y), result.size().width, value);
    }
  }

 private:
  // Along one axis: the length of the transforms, and the results of each.
  struct Tiles {
    std::int64_t side = 1, step = 1, count = 1;
    // As few as are no longer than what caches hold. A tile of all needs no overlap: what goes on
    // at its other end is 0, as outside the image.
    Tiles(std::int64_t length, std::int64_t full) {
      constexpr std::int64_t usual = 768, times = 4;
      const std::int64_t most = std::max(usual, times * length), overlap = length - 1;
      if (full > most) count = (full + most - overlap - 1) / (most - overlap);
      step = (full + count - 1) / count;
      side = smooth_length(count > 1 ? step + overlap : full);
    }
  };

  // Writes the sums of products with the template inside the image, of values divided by scale_ and
  // a template of norm 1.
  void correlate(Plane& result) const {
    const Size full = result.size(), own = pattern_.size;
    const Tiles columns(own.width, full.width), rows(own.height, full.height);
    const Size side{columns.side, rows.side}, step{columns.step, rows.step};
    const PlaneFft fft(side);
    const auto pattern_row = [&](std::int64_t y, double* row) {
      std::fill_n(row, side.width, 0.0);
      if (y >= own.height) return;
      for (std::int64_t x = 0; x < own.width; ++x) {
        row[x] = pattern_.values[static_cast<std::size_t>(y * own.width + x)] / pattern_.length;
      }
    };
    const Spectrum factors = fft.forward(pattern_row, own.height);
    for_each_part(columns.count * rows.count, [&](std::int64_t tile) {
      const std::int64_t left = tile % columns.count * step.width;
      const std::int64_t top = tile / columns.count * step.height;
      // The image pixel under the first pixel of the tile.
      const std::int64_t first_x = left - own.width + 1, first_y = top - own.height + 1;
      Spectrum spectrum = fft.forward([&](std::int64_t y, double* row) {
        std::fill_n(row, side.width, 0.0);
        const std::int64_t from = first_y + y;
        if (from < 0 || from >= size_.height) return;
        const std::int64_t begin = std::max<std::int64_t>(0, first_x);
        const std::int64_t end = std::min(size_.width, first_x + side.width);
        for (std::int64_t x = begin; x < end; ++x) {
          row[x - first_x] = values_[static_cast<std::size_t>(from * size_.width + x)] / scale_;
        }
      });
      multiply(spectrum, factors, true);
      fft.backward(std::move(spectrum), [&](std::int64_t y, const double* row) {
        if (y >= step.height || top + y >= full.height) return;
        const std::int64_t count = std::min(step.width, full.width - left);
        std::copy_n(row, count, result.row_as<float>(top + y) + left);
      });
    });
  }

  // Sums of values and of their squares.
  struct Sums {
    std::vector<double> values, squares;
    explicit Sums(std::int64_t count) : values(static_cast<std::size_t>(count)), squares(values) {}
  };

  // Divides by the norms of windows minus their means. Running sums over columns begin anew with
  // each band of rows, so that rounding errors do not accumulate.
  void finish(Plane& result, bool correlated) const {
    const std::int64_t height = pattern_.size.height, rows = std::max<std::int64_t>(32, height);
    const Size full = result.size();
    for_each_part((full.height + rows - 1) / rows, [&](std::int64_t band) {
      // Columns outside the image are 0.
      Sums columns(full.width + pattern_.size.width), windows(full.width);
      const auto add = [&](std::int64_t y, double sign) {
        if (y < 0 || y >= size_.height) return;
        const double* from = values_.data() + y * size_.width;
        double* values = columns.values.data() + pattern_.size.width;
        double* squares = columns.squares.data() + pattern_.size.width;
        for (std::int64_t x = 0; x < size_.width; ++x) {
          values[x] += sign * from[x];
          squares[x] += sign * (from[x] * from[x]);
        }
      };
      const std::int64_t begin = band * rows, end = std::min(full.height, begin + rows);
      for (std::int64_t y = begin - height + 1; y < begin; ++y) add(y, 1);
      for (std::int64_t r = begin; r < end; ++r) {
        add(r, 1);
        if (r > begin) add(r - height, -1);
        sum_windows(columns, windows);
        finish_row(r, windows, correlated, result.row_as<float>(r));
      }
    });
  }

  void sum_windows(const Sums& columns, Sums& windows) const {
    const std::int64_t width = pattern_.size.width, run = std::max<std::int64_t>(32, width);
    const double *values = columns.values.data(), *squares = columns.squares.data();
    double sum = 0, square = 0;
    for (std::int64_t q = 0; q < std::ssize(windows.values); ++q) {
      const auto at = static_cast<std::size_t>(q);
      if (q % run == 0) {
        sum = std::accumulate(values + q + 1, values + q + width + 1, 0.0);
        square = std::accumulate(squares + q + 1, squares + q + width + 1, 0.0);
      } else {  // one addition waits for the one before, not two
        sum += values[q + width] - values[q];
        square += squares[q + width] - squares[q];
      }
      windows.values[at] = sum;
      windows.squares[at] = square;
    }
  }

  // n times the squared norm of a window minus its mean, from the sums of its values and squares.
  // Products of integers may exceed 2^53; the difference of two that are close is computed modulo
  // 2^64.
  double spread(double n, double sum, double squares) const {
    const double apart = n * squares - sum * sum;
    if (exact_ || apart > 0x1p60) return apart;
    const auto bits = [](double value) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    };
    return static_cast<double>(
        static_cast<std::int64_t>(bits(n) * bits(squares) - bits(sum) * bits(sum)));
  }

  void finish_row(std::int64_t r, const Sums& windows, bool correlated, float* row) const {
    const Size own = pattern_.size;
    const Inside y(r, own.height, size_.height);
    const std::int64_t end = std::ssize(windows.values);
    // Windows inside the image, whose sums of products are complete.
    const bool simple = exact_ && correlated && y.count() == own.height && size_.width >= own.width;
    const std::int64_t first = simple ? own.width - 1 : end, last = simple ? size_.width : end;
    for (std::int64_t q = 0; q < first; ++q) row[q] = at_border(q, y, windows, correlated, row[q]);
    const double *sums = windows.values.data(), *squares = windows.squares.data();
    const auto n = static_cast<double>(own.pixels());
    for (std::int64_t q = first; q < last; ++q) {
      const double lengths = n * squares[q] - sums[q] * sums[q];
      const double c = scale_ * static_cast<double>(row[q]) / std::sqrt(lengths / n);
      const double most = c < 1 ? c : 1, least = most > -1 ? most : -1;
      row[q] = lengths > n * flat_ ? static_cast<float>(least) : 0;
    }
    for (std::int64_t q = last; q < end; ++q) {
      row[q] = at_border(q, y, windows, correlated, row[q]);
    }
  }

  // The same of any window. Pixels outside the image are 0, which is -middle_ here.
  float at_border(std::int64_t q, const Inside& y, const Sums& windows, bool correlated,
                  float made) const {
    const Inside x(q, pattern_.size.width, size_.width);
    const auto n = static_cast<double>(pattern_.size.pixels());
    const double outside = n - static_cast<double>(x.count() * y.count());
    const double sum = windows.values[static_cast<std::size_t>(q)] - outside * middle_;
    const double squares =
        windows.squares[static_cast<std::size_t>(q)] + outside * (middle_ * middle_);
    const double lengths = spread(n, sum, squares);
    if (!(lengths > n * flat_)) return 0;
    const auto before = [&](std::int64_t column, std::int64_t line) {
      return pattern_.before[pattern_.place(column, line)];
    };
    const double beside = before(x.end, y.end) - before(x.begin, y.end) - before(x.end, y.begin) +
                          before(x.begin, y.begin);
    const double product = (correlated ? scale_ * static_cast<double>(made) : 0) +
                           (outside > 0 ? middle_ / pattern_.length * beside : 0);
    return static_cast<float>(std::clamp(product / std::sqrt(lengths / n), -1.0, 1.0));
  }

  Size size_;
  Pattern pattern_;
  bool whole_;                  // values are whole numbers
  std::vector<double> values_;  // without the middle
  double middle_ = 0;
  double scale_ = 0;   // the largest magnitude of these
  double flat_ = 0;    // what squared lengths must exceed
  bool exact_ = true;  // products of sums of whole numbers are below 2^53
};

void normalised_correlation(const Plane& image, const Plane& pattern, Plane& result) {
  if (is_finite(image) && is_finite(pattern)) {
    Correlator(image, pattern).run(result);
  } else {
    fill_with_nan(result);
  }
}

Size full_size(Size image, Size pattern) {
  if (pattern == Size{}) return {};  // not known yet
  return {image.width + pattern.width - 1, image.height + pattern.height - 1};
}

// x, y and the value of the peak: the first of values that are equal to six digits.
std::vector<double> peak_of(const Plane& image, const Plane& pattern) {
  Plane result(PixelClass::single, full_size(image.size(), pattern.size()));
  normalised_correlation(image, pattern, result);
  constexpr double digits = 1e6;
  double best = -std::numeric_limits<double>::infinity();
  std::vector<double> out(3, std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t y = 0; y < result.size().height; ++y) {
    for (std::int64_t x = 0; x < result.size().width; ++x) {
      const auto value = static_cast<double>(result.row_as<float>(y)[x]);
      if (!(std::round(value * digits) > best)) continue;
      best = std::round(value * digits);
      out = {static_cast<double>(x - pattern.size().width + 1),
             static_cast<double>(y - pattern.size().height + 1), value};
    }
  }
  return out;
}

ImageValue lower_normxcorr2(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const ImageValue pattern = gray_operand(call, plan, call.value("template").operands.front());
  if (call.word("out") == "peak") {
    plan.report_objects("normxcorr2", {.labels = image.id,
                                       .intensities = pattern.id,
                                       .columns = {"x", "y", "peak"},
                                       .rows = [](const Plane& of, const Plane* with) {
                                         return peak_of(of, *with);
                                       }});
    return image;
  }
  plan.drop_alpha();
  const auto make = [](std::span<const Planes> images, Planes& result) {
    normalised_correlation(images[0].front(), images[1].front(), result.front());
  };
  const auto size = [](std::span<const Size> sizes) { return full_size(sizes[0], sizes[1]); };
  return on_host(call, plan, {image, pattern}, numbers(1),
                 {.size = size, .make = make, .bytes_a_pixel = sizeof(double)});
}

const RegisterOperator normxcorr2_operator{{
    .name = "normxcorr2",
    .help = "normalised cross-correlation with a template: where it lies in the image",
    .parameters = {{.name = "template",
                    .help = "the template, an image (:name) of any size",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "out",
                    .help = "the correlation of every place, or where the largest one is",
                    .words = {"image", "peak"},
                    .fallback = "image"}},
    .one_channel = true,
    .table = true,
    .details =
        R"(c = sum x (t - mean t) / sqrt(sum (x - mean x)^2 sum (t - mean t)^2) over the template's window with its
lower right pixel on each place, the image 0 beside its borders: (H + h - 1) x (W + w - 1) places, single
without a white, from -1 to 1; 0 where the window or the template is constant (single: the window's sum is
1e-10 h w max a^2 or less).
out=peak measures instead: x y peak, column and row of the template's upper left pixel in the image, from 0,
below 0 where it reaches over the border, at the largest c; of equals to six digits the first, row by row.
`normxcorr2 :t peak as p | imcrop ...`; -o '{stem}.npy' saves the numbers. By Fourier transforms of tiles in
double, sums of windows exact for integer classes, on the host.)",
    .example = "as t | circshift 5,9 | normxcorr2 :t",
    .accuracy = "2e-5",
    .not_finite = {NotFinite::Rule::other, "NaN and Inf, of image or template, make NaN of all"},
    .matlab = "normxcorr2(template,A) (same; outside the image 0)",
    .lower = lower_normxcorr2,
}};

}  // namespace
}  // namespace impipe::ops
