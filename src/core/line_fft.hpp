// Discrete Fourier transforms of any length, in double, of eight lines side by side.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/image.hpp"

namespace impipe {

// A number of each of eight lines.
struct alignas(64) LineNumbers {
  static constexpr std::int64_t lines = 8;
  std::array<double, lines> of{};
};

// An array of them in the memory of planes, which is pooled; not initialised.
class LineBuffer {
 public:
  explicit LineBuffer(std::int64_t size);
  LineBuffer(const LineBuffer& other);
  LineBuffer(LineBuffer&&) = default;
  LineBuffer& operator=(const LineBuffer&) = delete;
  LineBuffer& operator=(LineBuffer&&) = default;
  std::int64_t size() const { return size_; }
  LineNumbers* data() const { return numbers_; }
  LineNumbers& operator[](std::size_t i) const { return numbers_[i]; }
  void clear(std::int64_t from = 0);  // to the end

 private:
  std::int64_t size_;
  Plane memory_;
  LineNumbers* numbers_;
};

// Eight lines of complex numbers, and the second buffer that a transform writes to.
struct FftLines {
  explicit FftLines(std::int64_t length)
      : re(length), im(length), other_re(length), other_im(length) {}
  // A transform between two swaps is the inverse transform times the length.
  void swap_parts() { std::swap(re, im); }
  LineBuffer re, im;
  LineBuffer other_re, other_im;
};

// The transform of one length: Stockham's stages where its prime factors are 2, 3, 5 and 7, else a
// convolution of such a length (Bluestein). Several threads may use one object; the bits of the
// result depend neither on threads nor on the instruction set.
class LineFft {
 public:
  explicit LineFft(std::int64_t length);
  std::int64_t length() const { return length_; }
  // Replaces x by X_k = sum x_j exp(-2 pi i j k / n) in each line.
  void forward(FftLines& lines) const;

  // What kernels of GPUs need for the same bits: the stages in their order, or of a convolution
  // those of padded().
  struct Stage {
    int radix = 2;
    std::int64_t parts = 1;  // the length of the transforms that are left after the stage
    // Twiddle factors exp(-2 pi i p k / (radix parts)) for p < parts, 0 < k < radix.
    std::vector<std::complex<double>> factors;
  };
  const std::vector<Stage>& stages() const { return stages_; }
  const LineFft* padded() const { return padded_.get(); }  // null without a convolution
  const std::vector<std::complex<double>>& chirp() const { return chirp_; }
  const std::vector<std::complex<double>>& filter() const { return filter_; }

 private:
  void by_stages(FftLines& lines) const;
  void by_convolution(FftLines& lines) const;

  std::int64_t length_;
  std::vector<Stage> stages_;
  std::unique_ptr<const LineFft> padded_;     // the convolution's; null without one
  std::vector<std::complex<double>> chirp_;   // exp(-pi i k^2 / length)
  std::vector<std::complex<double>> filter_;  // the transform of its conjugate, scaled
};

// The smallest length of at least this that has no prime factors but 2, 3, 5 and 7.
std::int64_t smooth_length(std::int64_t least);

// exp(-2 pi i part / whole).
std::complex<double> turn(std::int64_t part, std::int64_t whole);

}  // namespace impipe
