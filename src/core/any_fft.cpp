// Radix-2 transforms in place, and Bluestein's chirps for lengths that are no power of two.
#include "core/any_fft.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace impipe {
namespace {

using Complex = std::complex<double>;

// Without the checks of std::complex for infinite parts.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(-2 pi i part / whole).
Complex turn(std::size_t part, std::size_t whole) {
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

AnyFft::AnyFft(std::int64_t length)
    : length_(static_cast<std::size_t>(length)),
      padded_(std::bit_ceil(std::has_single_bit(length_) ? length_ : 2 * length_ - 1)) {
  for (std::size_t k = 0; k < padded_ / 2; ++k) twiddle_.push_back(turn(k, padded_));
  if (padded_ == length_) return;
  filter_.resize(padded_);
  for (std::size_t k = 0; k < length_; ++k) {
    chirp_.push_back(turn(k * k % (2 * length_), 2 * length_));
    filter_[k] = std::conj(chirp_[k]);
    if (k > 0) filter_[padded_ - k] = filter_[k];
  }
  radix_two(filter_);
}

void AnyFft::radix_two(std::span<Complex> values) const {
  const std::size_t n = values.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t step = n / (2 * half);
    for (std::size_t begin = 0; begin < n; begin += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex odd = product(values[begin + half + k], twiddle_[k * step]);
        const Complex even = values[begin + k];
        values[begin + k] = even + odd;
        values[begin + half + k] = even - odd;
      }
    }
  }
}

void AnyFft::transform(std::span<Complex> values) const {
  if (chirp_.empty()) return radix_two(values);
  std::vector<Complex> padded(padded_);
  for (std::size_t k = 0; k < length_; ++k) padded[k] = product(values[k], chirp_[k]);
  radix_two(padded);
  // The inverse transform by the forward one of the conjugate.
  for (std::size_t k = 0; k < padded_; ++k) padded[k] = std::conj(product(padded[k], filter_[k]));
  radix_two(padded);
  const double scale = 1 / static_cast<double>(padded_);
  for (std::size_t k = 0; k < length_; ++k) {
    values[k] = product(std::conj(padded[k]) * scale, chirp_[k]);
  }
}

void AnyFft::forward(std::span<Complex> values) const { transform(values); }

void AnyFft::backward(std::span<Complex> values) const {
  for (Complex& value : values) value = std::conj(value);
  transform(values);
  for (Complex& value : values) value = std::conj(value);
}

}  // namespace impipe
