// The functions of doubles that spectra are made into pixels by, and the tables of edgetaper and of
// cosine transforms. backends/jit/transform/spectrum.cl has the functions once more.
#include "core/spectral_work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/line_fft.hpp"

namespace impipe {

double natural_log(double x) {
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  const auto bits = std::bit_cast<std::int64_t>(x);
  // x = m 2^power with m from sqrt(1/2) to sqrt(2).
  const std::int64_t power = (bits - std::bit_cast<std::int64_t>(std::numbers::sqrt2 / 2)) >> 52;
  const double m = std::bit_cast<double>(bits - power * (std::int64_t{1} << 52));
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return static_cast<double>(power) * std::numbers::ln2 + 2 * s * sum;
}

double exponential(double x) {
  constexpr double most = 745, high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;  // ln 2
  const double v = x < -most ? -most : x > most ? most : x;
  const double power = std::floor(v / std::numbers::ln2 + 0.5);
  const double r = v - power * high - power * low;
  double sum = 1;
  for (int k = 13; k >= 1; --k) sum = sum * r / k + 1;
  // In two steps, as 2^power alone may be no number.
  const auto whole = static_cast<std::int64_t>(power), half = whole >> 1;
  return sum * std::bit_cast<double>((half + 1023) << 52) *
         std::bit_cast<double>((whole - half + 1023) << 52);
}

double log_of_one_plus(double x) {
  const double sum = 1 + x, added = sum - 1;
  return added == 0 ? x : natural_log(sum) * (x / added);
}

double phase_of(double re, double im) {
  constexpr double pi = std::numbers::pi;
  const double x = std::abs(re), y = std::abs(im), larger = x > y ? x : y;
  if (larger == 0) return 0;
  const double ratio = (x > y ? y : x) / larger;
  const bool steep = ratio > 0.4142135623730950;  // of more than pi/8
  const double t = steep ? (ratio - 1) / (ratio + 1) : ratio, square = t * t;
  double sum = 0;
  for (int k = 41; k >= 1; k -= 2) sum = 1.0 / k - square * sum;
  const double part = (steep ? pi / 4 : 0) + t * sum;
  const double quarter = y > x ? pi / 2 - part : part;
  const double half = re < 0 ? pi - quarter : quarter;
  return im < 0 ? -half : half;
}

double part_of(ComplexPart part, double re, double im) {
  switch (part) {
    // Sums of float32 pixels are too small for their squares to overflow a double.
    case ComplexPart::magnitude: return std::sqrt(re * re + im * im);
    case ComplexPart::power: return re * re + im * im;
    case ComplexPart::log: return log_of_one_plus(std::sqrt(re * re + im * im));
    case ComplexPart::phase: return phase_of(re, im);
    case ComplexPart::complex:
    case ComplexPart::real: break;
  }
  return re;
}

double lucy_ratio(double w, double b, double damped_below) {
  if (b == 0) b = epsilon;
  const double e = w / b + epsilon;
  if (damped_below == 0) return e;
  const double gain = (w * natural_log(e) + b - w) / damped_below;
  const double g = gain < 1 ? gain : 1, cube = g * g * g;
  return 1 + cube * cube * cube * (10 - 9 * g) * (e - 1);
}

double FrequencyGain::operator()(double d) const {
  if (type == Type::low) return low_pass(d, cutoffs[0]);
  if (type == Type::high) return 1 - low_pass(d, cutoffs[0]);
  const double band = low_pass(d, cutoffs[1]) * (1 - low_pass(d, cutoffs[0]));
  return type == Type::band ? band : 1 - band;
}

double FrequencyGain::low_pass(double d, double cutoff) const {
  switch (shape) {
    case Shape::ideal: return d <= cutoff ? 1 : 0;
    case Shape::gaussian: return exponential(-d * d / (2 * cutoff * cutoff));
    case Shape::butterworth: break;
  }
  return d > 0 ? 1 / (1 + exponential(2 * order * natural_log(d / cutoff))) : 1;
}

std::vector<double> tapered_parts(const std::vector<double>& sums, std::int64_t n) {
  std::vector<double> out(static_cast<std::size_t>(n));
  const auto count = std::ssize(sums);
  if (count == 1) return out;
  for (std::int64_t d = 0; d < count; ++d) {
    double sum = 0;
    for (std::int64_t i = 0; i + d < count; ++i) {
      sum += sums[static_cast<std::size_t>(i)] * sums[static_cast<std::size_t>(i + d)];
    }
    out[static_cast<std::size_t>(d)] = out[static_cast<std::size_t>(n - 1 - d)] = sum;
  }
  const double largest = *std::ranges::max_element(out);
  for (double& part : out) part /= largest;
  return out;
}

Taper taper_of(const SpectralWork& work, std::int64_t height, std::int64_t width) {
  std::vector<double> down(static_cast<std::size_t>(work.rows)),
      across(static_cast<std::size_t>(work.columns));
  for (std::size_t i = 0; i < work.psf.size(); ++i) {
    down[i / across.size()] += work.psf[i];
    across[i % across.size()] += work.psf[i];
  }
  return {tapered_parts(down, height), tapered_parts(across, width)};
}

std::vector<double> cosine_factors(std::int64_t n) {
  std::vector<double> out;
  for (std::int64_t k = 0; k < n; ++k) {
    const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(n));
    const std::complex<double> factor = scale * turn(k, 4 * n);
    out.insert(out.end(), {factor.real(), factor.imag()});
  }
  return out;
}

}  // namespace impipe
