// What makes pixels of spectra, and the tables of edgetaper and of cosine transforms.
// backends/jit/transform/spectrum.cl has the former once more.
#include "core/spectral_work.hpp"

#include <algorithm>
#include <cmath>

#include "core/functions.hpp"
#include "core/line_fft.hpp"

namespace impipe {

double log_of_one_plus(double x) {
  const double sum = 1 + x, added = sum - 1;
  return added == 0 ? x : functions::log_double(sum) * (x / added);
}

double phase_of(double re, double im) {
  return functions::atan2_double(im + 0.0, re + 0.0);  // of no -0
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
  const double gain = e > 0 ? (w * functions::log_double(e) + b - w) / damped_below : 1;
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
    case Shape::gaussian: return functions::exp_double(-d * d / (2 * cutoff * cutoff));
    case Shape::butterworth: break;
  }
  return d > 0 ? 1 / (1 + functions::pow_double(d / cutoff, 2 * order)) : 1;
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
