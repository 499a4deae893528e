// The numbers of filtered back projection.
#include "core/backprojection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.hpp"
#include "core/functions.hpp"

namespace impipe {
namespace {

using Filter = Project::Filter;
using std::numbers::pi;

// The window's value at frequency s of -length/2 .. length/2 - 1, stretched to [-scaling, scaling].
double window(Filter filter, double s, double length) {
  const double place = length / 2 + s;
  switch (filter) {
    case Filter::hann: return 0.5 - 0.5 * functions::cos_double(2 * pi * place / (length - 1));
    case Filter::hamming: return 0.54 - 0.46 * functions::cos_double(2 * pi * place / (length - 1));
    case Filter::cosine: return functions::sin_double(pi * place / length);
    case Filter::shepp_logan: {
      const double x = pi * std::abs(s) / length;
      return x == 0 ? 1 : functions::sin_double(x) / x;
    }
    case Filter::ram_lak:
    case Filter::none: break;
  }
  return 1;
}

}  // namespace

std::vector<double> backprojection_angles(std::span<const double> degrees, double first,
                                          std::int64_t columns) {
  if (degrees.size() > 1 && static_cast<std::int64_t>(degrees.size()) != columns) {
    throw Error("iradon: " + std::to_string(degrees.size()) + " angles for " +
                    std::to_string(columns) + " projections, the columns of the image",
                ExitCode::file_failed);
  }
  std::vector<double> radians;
  for (std::int64_t k = 0; k < columns; ++k) {
    const double place = static_cast<double>(k);
    const double angle = degrees.empty() ? first + 180.0 * place / static_cast<double>(columns)
                         : degrees.size() == 1 ? first + degrees[0] * place
                                               : degrees[k];
    radians.push_back(angle * pi / 180);
  }
  return radians;
}

std::int64_t backprojection_length(std::int64_t rows, std::int64_t side) {
  const std::int64_t needed =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(side) * std::numbers::sqrt2)) + 1;
  return rows + std::max<std::int64_t>(0, (needed - rows + 1) / 2) * 2;
}

std::int64_t filter_length(std::int64_t rows) {
  return 2 * static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
}

// Only the even part of a response acts on the real part of the result; hann's and hamming's
// windows have an odd part too.
std::vector<double> filter_response(Filter filter, std::int64_t length, double scaling) {
  const double n = static_cast<double>(length);
  std::vector<double> response(static_cast<std::size_t>(length));
  for (std::int64_t k = 0; k < length; ++k) {
    const double s = static_cast<double>(k < length / 2 ? k : k - length);
    if (std::abs(s) > scaling * n / 2) continue;
    response[k] = std::abs(s) / (n / 2) * window(filter, s / scaling, n);
  }
  std::vector<double> even(response.size());
  for (std::int64_t k = 0; k < length; ++k) {
    even[k] = (response[k] + response[(length - k) % length]) / 2;
  }
  return even;
}

std::vector<std::complex<double>> fourier_roots(std::int64_t length) {
  std::vector<std::complex<double>> roots;
  for (std::int64_t k = 0; k < length / 2; ++k) {
    const double angle = -2 * pi * static_cast<double>(k) / static_cast<double>(length);
    roots.emplace_back(std::cos(angle), std::sin(angle));
  }
  return roots;
}

}  // namespace impipe
