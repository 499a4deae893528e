// The inverse Radon transform: filters each projection by its Fourier transform, then smears all of
// them back along their rays.
#include "backends/cpu/transform/backproject.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "backends/cpu/transform/fft.hpp"
#include "core/backprojection.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

using Filter = Project::Filter;

// Projections as rows of doubles, with zeros on both sides and one more behind.
struct Projections {
  std::int64_t count = 0, length = 0;
  std::vector<double> values;
  double* row(std::int64_t i) { return values.data() + i * (length + 1); }
  const double* row(std::int64_t i) const { return values.data() + i * (length + 1); }
};

double pixel(const Plane& in, std::int64_t x, std::int64_t y) {
  return with_pixel(in.cls(), [&](auto of) -> double { return in.row_as<decltype(of)>(y)[x]; });
}

// length: at least the input's height; the samples stand in the middle.
Projections filtered(const Project& what, double scaling, const Plane& in, std::int64_t length,
                     ThreadPool& pool) {
  const std::int64_t rows = in.size().height;
  Projections out{in.size().width, length};
  out.values.resize(static_cast<std::size_t>(out.count * (length + 1)));
  const std::int64_t before = (length - rows) / 2;
  const std::int64_t fft_length = filter_length(rows);
  const Fft fft(fft_length);
  const std::vector<double> response = filter_response(what.filter, fft_length, scaling);
  // Two at a time, as real and imaginary parts: the response is real and even.
  pool.for_each((out.count + 1) / 2, [&](std::int64_t pair) {
    const std::int64_t first = 2 * pair, second = std::min(first + 1, out.count - 1);
    std::vector<std::complex<double>> data(static_cast<std::size_t>(fft_length));
    for (std::int64_t y = 0; y < rows; ++y) data[y] = {pixel(in, first, y), pixel(in, second, y)};
    if (what.filter != Filter::none) {
      fft.forward(data);
      for (std::int64_t k = 0; k < fft_length; ++k) data[k] *= response[k];
      fft.inverse(data);
    }
    for (std::int64_t y = 0; y < rows; ++y) {
      out.row(first)[before + y] = data[y].real();
      if (second != first) out.row(second)[before + y] = data[y].imag();
    }
  });
  return out;
}

}  // namespace

void run_backproject(const Project& what, std::span<const double> arguments, const Plane& in,
                     Plane& out, ThreadPool& pool) {
  const std::size_t given = static_cast<std::size_t>(what.angles);
  const std::vector<double> angles =
      backprojection_angles(arguments.first(given), arguments[given], in.size().width);
  const double scaling = arguments[given + 1];
  const std::int64_t side = out.size().width, rows = in.size().height;
  const std::int64_t length = backprojection_length(rows, side);
  const Projections projections = filtered(what, scaling, in, length, pool);

  const std::int64_t middle = (side + 1) / 2;
  const double scale = std::numbers::pi / (2 * static_cast<double>(angles.size()));
  pool.for_each(side, [&](std::int64_t row) {
    const double y = static_cast<double>(side - 1 - row - middle);
    std::vector<double> sums(static_cast<std::size_t>(side));
    for (std::size_t a = 0; a < angles.size(); ++a) {
      const double* samples = projections.row(static_cast<std::int64_t>(a));
      const double c = std::cos(angles[a]);
      const double start = y * std::sin(angles[a]);
      for (std::int64_t x = 0; x < side; ++x) {
        const double step = static_cast<double>(x - middle + 1) * c;
        if (what.linear) {
          const double place = start + static_cast<double>(length / 2) + step;
          const std::int64_t at = static_cast<std::int64_t>(place);
          const double part = place - static_cast<double>(at);
          sums[x] += samples[at] + (samples[at + 1] - samples[at]) * part;
        } else {
          // Ties are decided before the middle is added, whose rounding would make more of them.
          sums[x] +=
              samples[static_cast<std::int64_t>(std::floor(start + step + 0.5)) + length / 2];
        }
      }
    }
    float* result = out.row_as<float>(row);
    for (std::int64_t x = 0; x < side; ++x) result[x] = static_cast<float>(sums[x] * scale);
  });
}

}  // namespace impipe::cpu
