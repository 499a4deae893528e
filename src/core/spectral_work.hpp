// Work by Fourier transforms of whole images, as a value: HostWork::make does it on the host, and
// GPUs do it by kernels (backends/jit/transform/spectrum.cpp) with the same bits.
#pragma once

#include <cstdint>
#include <vector>

namespace impipe {

// How complex numbers are written: both parts as two channels, or one function of them. log is
// ln(1 + magnitude), phase is in (-pi, pi].
enum class ComplexPart { complex, real, magnitude, power, log, phase };
inline int channels_of(ComplexPart part) { return part == ComplexPart::complex ? 2 : 1; }

// A factor of each frequency, by its distance d from 0 in cycles per pixel.
struct FrequencyGain {
  enum class Type { low, high, band, stop } type = Type::low;
  enum class Shape { gaussian, butterworth, ideal } shape = Shape::gaussian;
  double order = 2;                  // of butterworth
  double cutoffs[2] = {0.25, 0.25};  // low and high have the first alone
  double operator()(double d) const;

 private:
  double low_pass(double d, double cutoff) const;
};

struct SpectralWork {
  enum class Kind {
    forward,         // fft2
    inverse,         // ifft2, of pairs of channels
    cosine,          // dct2
    inverse_cosine,  // idct2
    gain,            // freqfilt
    factors,         // freqfilt by an image, the second
    wiener,          // deconvwnr
    lucy,            // deconvlucy
    taper,           // edgetaper
  };
  Kind kind = Kind::forward;
  ComplexPart part = ComplexPart::complex;  // of the result of forward and inverse
  bool shifted = false;                     // frequency 0 of the spectrum, or of the factors
  // gain: what lies around the image, in transforms of twice its sides; circular ones need nothing.
  enum class Around { circular, zeros, symmetric } around = Around::circular;
  FrequencyGain gain = {};
  // The point spread function.
  int rows = 0, columns = 0;
  std::vector<double> psf = {};
  double noise = 0;         // wiener
  double white = 1;         // lucy, and all of the following
  double damped_below = 0;  // half the square of the damping
  bool accelerated = true;
  int iterations = 0;
};

// What lucy and wiener bound divisors by.
inline constexpr double root_epsilon = 0x1p-26, epsilon = 0x1p-52;

double log_of_one_plus(double x);       // of x >= 0
double phase_of(double re, double im);  // 0 of 0
double part_of(ComplexPart part, double re, double im);
// The correction of Richardson and Lucy where the image is w and the blurred estimate is b.
double lucy_ratio(double w, double b, double damped_below);

// Frequency number k of n in cycles per pixel; those of the second half are negative.
inline double frequency(std::int64_t k, std::int64_t n) {
  return static_cast<double>(k < (n + 1) / 2 ? k : k - n) / static_cast<double>(n);
}

// The weight of the blurred image in each of n rows (or columns) of edgetaper: the autocorrelation
// of the psf's sums along the other dimension, divided by its maximum.
std::vector<double> tapered_parts(const std::vector<double>& sums, std::int64_t n);
struct Taper {
  std::vector<double> down, across;
};
Taper taper_of(const SpectralWork& work, std::int64_t height, std::int64_t width);

// Makhoul's cosine transform of n values: one Fourier transform of the even values followed by the
// odd ones in reverse. The place of value j in that order, and the factors s_k exp(-pi i k / 2n)
// as pairs of numbers, s_k the scale of row k.
inline std::int64_t cosine_place(std::int64_t j, std::int64_t n) {
  return j % 2 == 0 ? j / 2 : n - 1 - j / 2;
}
std::vector<double> cosine_factors(std::int64_t n);

}  // namespace impipe
