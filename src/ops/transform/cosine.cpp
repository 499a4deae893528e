// dct2 and idct2: images as sums of cosines.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/line_fft.hpp"
#include "core/page_operation.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

constexpr auto lines = static_cast<std::size_t>(LineNumbers::lines);

// Makhoul's algorithm (core/spectral_work.hpp). Sixteen real lines are the real and the imaginary
// parts of eight.
class Cosine {
 public:
  explicit Cosine(std::int64_t length) : n_(static_cast<std::size_t>(length)), fft_(length) {
    const std::vector<double> factors = cosine_factors(length);
    for (std::size_t k = 0; k < n_; ++k) quarter_.emplace_back(factors[2 * k], factors[2 * k + 1]);
  }
  // The index of value j in that order.
  std::size_t index(std::size_t j) const {
    return static_cast<std::size_t>(
        cosine_place(static_cast<std::int64_t>(j), static_cast<std::int64_t>(n_)));
  }

  // X_k = Re(s_k q_k Z_k) of the transform Z of each line, s_k the scale and q_k = exp(-pi i k /
  // 2n).
  void forward(FftLines& z) const {
    fft_.forward(z);
    for (std::size_t k = 0; k <= n_ / 2; ++k) {
      const std::size_t other = (n_ - k) % n_;
      const double re = quarter_[k].real(), im = quarter_[k].imag();
      const double other_re = quarter_[other].real(), other_im = quarter_[other].imag();
      for (std::size_t i = 0; i < lines; ++i) {
        const double a = z.re[k].of[i], b = z.im[k].of[i];
        const double c = z.re[other].of[i], d = z.im[other].of[i];
        // (x, y) and (u, v) are the transforms of the two real lines; at `other` their conjugates.
        const double x = (a + c) / 2, y = (b - d) / 2, u = (b + d) / 2, v = (c - a) / 2;
        z.re[k].of[i] = re * x - im * y, z.im[k].of[i] = re * u - im * v;
        z.re[other].of[i] = other_re * x + other_im * y,
        z.im[other].of[i] = other_re * u + other_im * v;
      }
    }
  }

  // The values in the order of index(), from Z_k = conj(q_k) (X_k - i X_(n-k)) / s.
  void backward(FftLines& z) const {
    const FftLines from = z;
    for (std::size_t k = 0; k < n_; ++k) {
      const double factor = k == 0 ? 1 : 0.5;  // |quarter|^2 = s^2 is 2 / n but for k = 0
      const double re = quarter_[k].real() * factor, im = quarter_[k].imag() * factor;
      for (std::size_t i = 0; i < lines; ++i) {
        const double a = from.re[k].of[i], b = k == 0 ? 0 : from.re[n_ - k].of[i];
        const double c = from.im[k].of[i], d = k == 0 ? 0 : from.im[n_ - k].of[i];
        // x + i y = conj(q) (a - i b), u + i v = conj(q) (c - i d).
        const double x = re * a - im * b, y = -re * b - im * a;
        const double u = re * c - im * d, v = -re * d - im * c;
        z.re[k].of[i] = x - v, z.im[k].of[i] = y + u;
      }
    }
    z.swap_parts();
    fft_.forward(z);
    z.swap_parts();
  }

 private:
  std::size_t n_;
  LineFft fft_;
  std::vector<std::complex<double>> quarter_;  // with the scales
};

// An image of numbers, row by row.
struct Grid {
  Size size;
  std::vector<double> values;
};

// Transforms the lines of a grid in place; number k of line i is at i * line + k * step.
void transform_lines(Grid& grid, std::int64_t count, std::int64_t length, std::int64_t line,
                     std::int64_t step, bool inverse) {
  const Cosine cosine(length);
  const auto each = static_cast<std::int64_t>(2 * lines);
  for_each_part((count + each - 1) / each, [&](std::int64_t group) {
    FftLines z(length);
    const std::int64_t here = std::min(each, count - group * each);
    // Two lines are parts of one transform: what another one leaves is rounded into both.
    if (here < each) z.re.clear(), z.im.clear();
    // Copies numbers into z (read) or back; reordered: in the order of index().
    const auto move = [&](bool read, bool reordered) {
      for (std::int64_t k = 0; k < length; ++k) {
        const auto plain = static_cast<std::size_t>(k);
        const std::size_t at = reordered ? cosine.index(plain) : plain;
        for (std::int64_t i = 0; i < here; ++i) {
          double& value =
              grid.values[static_cast<std::size_t>((group * each + i) * line + k * step)];
          auto& numbers = static_cast<std::size_t>(i) < lines ? z.re : z.im;
          double& other = numbers[at].of[static_cast<std::size_t>(i) % lines];
          (read ? other : value) = read ? value : other;
        }
      }
    };
    move(true, !inverse);
    inverse ? cosine.backward(z) : cosine.forward(z);
    move(false, inverse);
  });
}

void transform_plane(const Plane& from, bool inverse, Plane& to) {
  if (!is_finite(from)) return fill_with_nan(to);
  const Size size = from.size();
  Grid grid{size, std::vector<double>(static_cast<std::size_t>(size.pixels()))};
  for (std::int64_t y = 0; y < size.height; ++y) {
    load_row(from, y, grid.values.data() + y * size.width);
  }
  transform_lines(grid, size.height, size.width, size.width, 1, inverse);
  transform_lines(grid, size.width, size.height, 1, size.width, inverse);
  for (std::int64_t y = 0; y < size.height; ++y) {
    store_row(grid.values.data() + y * size.width, to, y);
  }
}

template <bool inverse>
ImageValue lower_cosine(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const auto make = [](std::span<const Planes> images, Planes& result) {
    for (std::size_t c = 0; c < result.size(); ++c) {
      transform_plane(images.front()[c], inverse, result[c]);
    }
  };
  return on_host(call, plan, {image}, numbers(image.type.channels),
                 {.make = make,
                  .bytes_a_pixel = 3.0 * sizeof(double) * image.type.channels,
                  .spectral = SpectralWork{.kind = inverse ? SpectralWork::Kind::inverse_cosine
                                                           : SpectralWork::Kind::cosine}});
}

const RegisterOperator dct2_operator{{
    .name = "dct2",
    .help = "two-dimensional cosine transform",
    .details =
        R"(D = M_H A M_W', M_n(k,j) = sqrt(2 / n) cos(pi k (2 j + 1) / (2 n)), row 0 divided by sqrt 2: orthonormal,
of the raw values, each channel by itself, of any size. The result is single and has no white. Alpha is
dropped. In double.)",
    .example = "dct2",
    .accuracy = "6e-8 of the largest value",
    .not_finite = nan_fills,
    .matlab = "dct2(A) (same)",
    .lower = lower_cosine<false>,
}};

const RegisterOperator idct2_operator{{
    .name = "idct2",
    .help = "inverse of dct2",
    .details =
        R"(A = M_H' D M_W with the matrices of dct2, each channel by itself, of any size. The result is single and
has no white, in the raw units of the image that dct2 had. Alpha is dropped. In double.)",
    .example = "dct2 | idct2",
    .accuracy = "6e-8 of the largest value",
    .not_finite = nan_fills,
    .matlab = "idct2(A) (same)",
    .lower = lower_cosine<true>,
}};

}  // namespace
}  // namespace impipe::ops
