// Discrete Fourier transforms of any length, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace impipe {

// Powers of two by Cooley and Tukey, other lengths as a convolution of such a length (Bluestein).
// One object serves many threads.
class AnyFft {
 public:
  explicit AnyFft(std::int64_t length);
  // X_k = sum x_j exp(-2 pi i j k / n) in the place of x; backward: exp(+...), without a factor.
  // Results depend on no thread and no instruction set.
  void forward(std::span<std::complex<double>> values) const;
  void backward(std::span<std::complex<double>> values) const;

 private:
  void transform(std::span<std::complex<double>> values) const;
  void radix_two(std::span<std::complex<double>> values) const;

  std::size_t length_;
  std::size_t padded_;                         // the power of two
  std::vector<std::complex<double>> twiddle_;  // exp(-2 pi i k / padded), half of them
  std::vector<std::complex<double>> chirp_;    // exp(-pi i k^2 / length); empty: a power of two
  std::vector<std::complex<double>> filter_;   // the transform of its conjugate
};

}  // namespace impipe
