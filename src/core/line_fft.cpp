// Chooses the stages for the processor's instruction set; Bluestein's algorithm.
#include "core/line_fft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/body.hpp"
#include "core/has_v3.hpp"

namespace impipe {
namespace {

namespace baseline {
#define FFT_TARGET
#include "core/line_fft.inc"
#undef FFT_TARGET
}  // namespace baseline
namespace v3 {
#define FFT_TARGET IMPIPE_TARGET_v3
#include "core/line_fft.inc"
#undef FFT_TARGET
}  // namespace v3

template <class Rows>
Rows rows_of(const LineBuffer& re, const LineBuffer& im, const LineBuffer& to_re,
             const LineBuffer& to_im) {
  using To = decltype(Rows::to_re);
  using From = decltype(Rows::re);
  return {reinterpret_cast<From>(re.data()), reinterpret_cast<From>(im.data()),
          reinterpret_cast<To>(to_re.data()), reinterpret_cast<To>(to_im.data())};
}

void run_stage(int radix, FftLines& lines, std::int64_t parts, std::int64_t width,
               const std::complex<double>* factors) {
  auto& [re, im, to_re, to_im] = lines;
  if (has_v3()) {
    v3::any_stage(radix, rows_of<v3::Rows>(re, im, to_re, to_im), parts, width * v3::fours,
                  factors);
  } else {
    baseline::any_stage(radix, rows_of<baseline::Rows>(re, im, to_re, to_im), parts,
                        width * baseline::fours, factors);
  }
  std::swap(re, to_re);
  std::swap(im, to_im);
}

void multiply(const std::vector<std::complex<double>>& factors, FftLines& from, FftLines& to) {
  const auto count = std::ssize(factors);
  if (has_v3()) {
    v3::multiply(factors.data(), count, rows_of<v3::Rows>(from.re, from.im, to.re, to.im));
  } else {
    baseline::multiply(factors.data(), count,
                       rows_of<baseline::Rows>(from.re, from.im, to.re, to.im));
  }
}

std::int64_t without_small_factors(std::int64_t length) {
  for (const int factor : {2, 3, 5, 7}) {
    while (length % factor == 0) length /= factor;
  }
  return length;
}

}  // namespace

std::complex<double> turn(std::int64_t part, std::int64_t whole) {
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

std::int64_t smooth_length(std::int64_t least) {
  while (without_small_factors(least) != 1) ++least;
  return least;
}

LineBuffer::LineBuffer(std::int64_t size)
    : size_(size),
      memory_(PixelClass::single,
              {size * static_cast<std::int64_t>(sizeof(LineNumbers) / sizeof(float)), 1}),
      numbers_(memory_.row_as<LineNumbers>(0)) {}

LineBuffer::LineBuffer(const LineBuffer& other) : LineBuffer(other.size_) {
  std::copy_n(other.numbers_, size_, numbers_);
}

void LineBuffer::clear(std::int64_t from) {
  std::fill(numbers_ + from, numbers_ + size_, LineNumbers{});
}

LineFft::LineFft(std::int64_t length) : length_(length) {
  if (without_small_factors(length) == 1) {
    for (std::int64_t left = length; left > 1;) {
      Stage stage{.radix = 7, .parts = 1, .factors = {}};
      for (const int radix : {2, 3, 5, 4}) {
        if (left % radix == 0) stage.radix = radix;
      }
      stage.parts = left / stage.radix;
      for (std::int64_t p = 0; p < stage.parts; ++p) {
        for (int k = 1; k < stage.radix; ++k) stage.factors.push_back(turn(p * k, left));
      }
      left = stage.parts;
      stages_.push_back(std::move(stage));
    }
    return;
  }
  padded_ = std::make_unique<LineFft>(smooth_length(2 * length - 1));
  const std::int64_t padded = padded_->length();
  FftLines filter(padded);
  filter.re.clear();
  filter.im.clear();
  for (std::int64_t k = 0; k < length; ++k) {
    chirp_.push_back(turn(k * k % (2 * length), 2 * length));
    for (const std::int64_t at : {k, (padded - k) % padded}) {
      filter.re[static_cast<std::size_t>(at)].of[0] = chirp_.back().real();
      filter.im[static_cast<std::size_t>(at)].of[0] = -chirp_.back().imag();
    }
  }
  padded_->forward(filter);
  const double scale = 1 / static_cast<double>(padded);
  for (std::size_t k = 0; k < static_cast<std::size_t>(padded); ++k) {
    filter_.emplace_back(filter.re[k].of[0] * scale, filter.im[k].of[0] * scale);
  }
}

void LineFft::by_stages(FftLines& lines) const {
  std::int64_t width = 1;
  for (const Stage& stage : stages_) {
    run_stage(stage.radix, lines, stage.parts, width, stage.factors.data());
    width *= stage.radix;
  }
}

void LineFft::by_convolution(FftLines& lines) const {
  FftLines padded(padded_->length());
  multiply(chirp_, lines, padded);
  padded.re.clear(length_);
  padded.im.clear(length_);
  padded_->forward(padded);
  multiply(filter_, padded, padded);
  padded.swap_parts();
  padded_->forward(padded);
  padded.swap_parts();
  multiply(chirp_, padded, lines);
}

void LineFft::forward(FftLines& lines) const {
  chirp_.empty() ? by_stages(lines) : by_convolution(lines);
}

}  // namespace impipe
