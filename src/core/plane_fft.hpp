// Discrete Fourier transforms of images, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/image.hpp"
#include "core/line_fft.hpp"

namespace impipe {

// F(k,l) = sum a(r,c) exp(-2 pi i (k r / H + l c / W)). The spectrum of a real image keeps columns
// 0 to W/2 only, since F(-k,-l) is the conjugate of F(k,l).
class Spectrum {
 public:
  Spectrum(Size size, bool of_real);
  Size size() const { return size_; }
  std::int64_t columns() const { return columns_; }  // that are kept
  // F(row, column), also of columns that are not kept.
  std::complex<double> at(std::int64_t row, std::int64_t column) const;
  // All W frequencies of a row.
  void copy_row(std::int64_t row, double* re, double* im) const;
  void clear_row(std::int64_t row);

  // Replaces each kept frequency by change(row, column, value), in parallel.
  template <class Change>
  void change(const Change& change_one);

  // Groups of eight columns: row after row of the first group, then of the next.
  LineBuffer re, im;
  std::size_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(column / LineNumbers::lines * size_.height + row);
  }

 private:
  Size size_;
  std::int64_t columns_;
};

// Calls body(i) for each i < count, in parallel.
void for_each_part(std::int64_t count, const std::function<void(std::int64_t)>& body);

template <class Change>
void Spectrum::change(const Change& change_one) {
  const std::int64_t lines = LineNumbers::lines;
  for_each_part((columns_ + lines - 1) / lines, [&](std::int64_t block) {
    for (std::int64_t row = 0; row < size_.height; ++row) {
      const auto at = static_cast<std::size_t>(block * size_.height + row);
      for (std::int64_t i = 0; i < lines && block * lines + i < columns_; ++i) {
        const auto lane = static_cast<std::size_t>(i);
        const std::complex<double> made =
            change_one(row, block * lines + i, std::complex(re[at].of[lane], im[at].of[lane]));
        re[at].of[lane] = made.real(), im[at].of[lane] = made.imag();
      }
    }
  });
}

// Callbacks that fill or consume row y of an image.
using ReadRow = std::function<void(std::int64_t y, double* row)>;
using WriteRow = std::function<void(std::int64_t y, const double* row)>;

// Transforms of images of one size. Callbacks run in parallel, once for each row.
class PlaneFft {
 public:
  explicit PlaneFft(Size size) : size_(size), along_(size.width), down_(size.height) {}
  Size size() const { return size_; }
  Spectrum forward(const ReadRow& real) const { return forward(real, size_.height); }
  // The same of an image whose rows from `rows` on are 0.
  Spectrum forward(const ReadRow& real, std::int64_t rows) const;
  Spectrum forward(const ReadRow& real, const ReadRow& imaginary) const;
  // a = 1 / (H W) sum F exp(+...); the spectrum is that of a real image.
  void backward(Spectrum spectrum, const WriteRow& write) const;

 private:
  void transform_columns(Spectrum& spectrum, bool inverse) const;
  void write_rows(const Spectrum& spectrum, std::int64_t first, const WriteRow& write) const;

  Size size_;
  LineFft along_, down_;
};

// Multiplies each frequency by the one of `factors`, or by its conjugate.
void multiply(Spectrum& spectrum, const Spectrum& factors, bool conjugate = false);

}  // namespace impipe
