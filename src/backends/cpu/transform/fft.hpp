// The discrete Fourier transform of a power of two of values, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace impipe::cpu {

// Immutable once made; used by several threads.
class Fft {
 public:
  // length: a power of two.
  explicit Fft(std::int64_t length);
  // In place: X(k) = sum over n of x(n) exp(-2 pi i k n / length).
  void forward(std::span<std::complex<double>> data) const { transform(data, 1); }
  // The same with exp(+…), divided by the length.
  void inverse(std::span<std::complex<double>> data) const;

 private:
  void transform(std::span<std::complex<double>> data, double sign) const;

  std::vector<std::complex<double>> roots_;  // exp(-2 pi i k / length), k < length / 2
  std::vector<std::int64_t> reversed_;       // indices with their bits in reverse
};

}  // namespace impipe::cpu
