// The discrete Fourier transform by halving: bits in reverse, then butterflies of growing span.
#include "backends/cpu/transform/fft.hpp"

#include <utility>

#include "core/backprojection.hpp"

namespace impipe::cpu {

Fft::Fft(std::int64_t length)
    : roots_(fourier_roots(length)), reversed_(static_cast<std::size_t>(length)) {
  for (std::int64_t i = 1; i < length; ++i) {
    reversed_[i] = reversed_[i / 2] / 2 + (i % 2 != 0 ? length / 2 : 0);
  }
}

void Fft::transform(std::span<std::complex<double>> data, double sign) const {
  const std::int64_t length = static_cast<std::int64_t>(reversed_.size());
  for (std::int64_t i = 0; i < length; ++i) {
    if (i < reversed_[i]) std::swap(data[i], data[reversed_[i]]);
  }
  for (std::int64_t half = 1; half < length; half *= 2) {
    const std::int64_t step = length / (2 * half);
    for (std::int64_t start = 0; start < length; start += 2 * half) {
      for (std::int64_t k = 0; k < half; ++k) {
        // Written out: the complex product looks for infinities.
        const double re = roots_[k * step].real(), im = sign * roots_[k * step].imag();
        const std::complex<double> low = data[start + k], high = data[start + k + half];
        const std::complex<double> turned{high.real() * re - high.imag() * im,
                                          high.real() * im + high.imag() * re};
        data[start + k] = low + turned;
        data[start + k + half] = low - turned;
      }
    }
  }
}

void Fft::inverse(std::span<std::complex<double>> data) const {
  transform(data, -1);
  const double scale = 1 / static_cast<double>(reversed_.size());
  for (std::complex<double>& value : data) value *= scale;
}

}  // namespace impipe::cpu
