// The Fourier transform against its sum.
#include "backends/cpu/transform/fft.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace impipe::cpu {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> random_values(int n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Complex> values;
  for (int i = 0; i < n; ++i) values.emplace_back(uniform(random), uniform(random));
  return values;
}

TEST(Fft, IsItsSumAtEveryLength) {
  for (int n = 1; n <= 512; n *= 2) {
    const std::vector<Complex> in = random_values(n);
    std::vector<Complex> out = in;
    Fft(n).forward(out);
    for (int k = 0; k < n; ++k) {
      Complex sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += in[i] * std::polar(1.0, -2 * std::numbers::pi * (k * i % n) / n);
      }
      EXPECT_NEAR(std::abs(out[k] - sum), 0, 1e-12) << n << " at " << k;
    }
  }
}

TEST(Fft, InverseUndoesIt) {
  const std::vector<Complex> in = random_values(8192);
  std::vector<Complex> data = in;
  const Fft fft(8192);
  fft.forward(data);
  fft.inverse(data);
  for (int i = 0; i < 8192; ++i) EXPECT_NEAR(std::abs(data[i] - in[i]), 0, 1e-14) << i;
}

}  // namespace
}  // namespace impipe::cpu
