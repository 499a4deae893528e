// deconvwnr, deconvlucy and edgetaper: images blurred by a point spread function (psf).
#include <algorithm>
#include <array>
#include <numeric>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

const Parameter psf_parameter{
    .name = "psf",
    .help = "what a point became: a matrix, fspecial:gaussian,7,1.5 or @file",
    .takes = Takes::kernel,
    .required = true};

double sum_of(const Matrix& psf) {
  return std::accumulate(psf.values.begin(), psf.values.end(), 0.0);
}

// Calls make_channel(psf, transform, plane, result) for each channel; work: the same for GPUs, but
// for the psf. The psf may be as large as the image divided by `part`.
using MakeChannel =
    std::function<void(const Matrix&, const PlaneFft&, const Plane&, Plane& result)>;
ImageValue each_channel(const Call& call, PlanBuilder& plan, const Matrix& psf, int part,
                        double spectra, MakeChannel make_channel, SpectralWork work) {
  const std::string name(call.op().name);
  const auto check = [=](std::span<const Size> sizes) {
    const Size size = sizes.front();
    const auto fits = [part](int side, std::int64_t of) {
      return side <= of / part || (part > 1 && side == 1);
    };
    if (!fits(psf.columns, size.width) || !fits(psf.rows, size.height)) {
      throw Error(name + ": the psf is " + to_string(Size{psf.columns, psf.rows}) +
                      (part > 1 ? ", more than half of the image, " : ", the image only ") +
                      to_string(size),
                  ExitCode::file_failed);
    }
  };
  const auto make = [=](std::span<const Planes> images, Planes& result) {
    const PlaneFft fft(result.front().size());
    for (std::size_t c = 0; c < result.size(); ++c) {
      const Plane& from = images.front()[c];
      is_finite(from) ? make_channel(psf, fft, from, result[c]) : fill_with_nan(result[c]);
    }
  };
  work.rows = psf.rows, work.columns = psf.columns, work.psf = psf.values;
  const double channels = plan.current().type.channels;
  return on_host(call, plan, {plan.current()}, like(plan.current()),
                 {.make = make,
                  .bytes_a_pixel = spectra * bytes_of_spectrum * channels,
                  .spectral = std::move(work),
                  .check = check});
}

ImageValue lower_deconvwnr(const Call& call, PlanBuilder& plan) {
  const double nsr = call.number("nsr");
  const auto make = [nsr](const Matrix& psf, const PlaneFft& fft, const Plane& from, Plane& to) {
    const Spectrum transfer = transfer_of(psf, fft);
    Spectrum spectrum = fft.forward(rows_of(from));
    spectrum.change([&](std::int64_t row, std::int64_t column, std::complex<double> f) {
      const std::complex<double> t = transfer.at(row, column);
      return f * std::conj(t) / std::max(std::norm(t) + nsr, root_epsilon);
    });
    fft.backward(std::move(spectrum), rows_to(to));
  };
  return each_channel(call, plan, kernel_argument(call, "psf"), 1, 3, make,
                      {.kind = SpectralWork::Kind::wiener, .noise = nsr});
}

// MATLAB's accelerated form of the Richardson-Lucy iteration, on one channel.
class Lucy {
 public:
  Lucy(const Matrix& psf, const PlaneFft& fft, double damped_below, bool accelerated)
      : fft_(fft),
        transfer_(transfer_of(psf, fft)),
        normal_(sum_of(psf) + root_epsilon),
        damped_below_(damped_below),
        accelerated_(accelerated) {}

  // Pixels are divided by white first.
  void run(const Plane& from, double white, int iterations, Plane& to) {
    const Size size = from.size();
    const ReadRow read = rows_of(from);
    for (Numbers* numbers : {&image_, &estimate_, &previous_, &sharp_, &ratio_, &step_, &last_}) {
      numbers->assign(static_cast<std::size_t>(size.pixels()), 0);
    }
    for (std::int64_t y = 0; y < size.height; ++y) {
      double* row = row_of(estimate_, y);
      read(y, row);
      for (std::int64_t x = 0; x < size.width; ++x) {
        row[x] /= white;
        row_of(image_, y)[x] = above_zero(row[x]);
      }
    }
    for (int k = 1; k <= iterations; ++k) iterate(k);
    const WriteRow write = rows_to(to);
    for (std::int64_t y = 0; y < size.height; ++y) {
      double* row = row_of(estimate_, y);
      for (std::int64_t x = 0; x < size.width; ++x) row[x] *= white;
      write(y, row);
    }
  }

 private:
  using Numbers = std::vector<double>;
  static double above_zero(double value) { return value > 0 ? value : 0; }
  double* row_of(Numbers& numbers, std::int64_t y) const {
    return numbers.data() + y * fft_.size().width;
  }

  // The sum of n products in the order of a GPU's group: 64 sums, of every 64th product, of which
  // the second half is added to the first, again and again.
  static double sum_of_products(const double* a, const double* b, std::int64_t n) {
    std::array<double, 64> sums{};
    for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(i % 64)] += a[i] * b[i];
    for (std::size_t half = 32; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    return sums.front();
  }

  // The factor by which the last step is extrapolated.
  double acceleration() {
    const Size size = fft_.size();
    Numbers products(static_cast<std::size_t>(size.height)), squares(products);
    for_each_part(size.height, [&](std::int64_t y) {
      const double *a = row_of(step_, y), *b = row_of(last_, y);
      products[static_cast<std::size_t>(y)] = sum_of_products(a, b, size.width);
      squares[static_cast<std::size_t>(y)] = sum_of_products(b, b, size.width);
    });
    const Numbers ones(products.size(), 1);
    const double product = sum_of_products(products.data(), ones.data(), size.height);
    const double square = sum_of_products(squares.data(), ones.data(), size.height);
    return std::clamp(product / (square + epsilon), 0.0, 1.0);
  }

  void iterate(int k) {
    const std::int64_t width = fft_.size().width;
    const double lambda = accelerated_ && k > 2 ? acceleration() : 0;
    const auto predict = [&](std::int64_t y, double* to) {
      const double *now = row_of(estimate_, y), *before = row_of(previous_, y);
      double* sharp = row_of(sharp_, y);
      for (std::int64_t x = 0; x < width; ++x) {
        to[x] = sharp[x] = above_zero(now[x] + lambda * (now[x] - before[x]));
      }
    };
    Spectrum spectrum = fft_.forward(predict);
    multiply(spectrum, transfer_);
    fft_.backward(std::move(spectrum), [&](std::int64_t y, const double* blurred) {
      const double* image = row_of(image_, y);
      double* to = row_of(ratio_, y);
      for (std::int64_t x = 0; x < width; ++x)
        to[x] = lucy_ratio(image[x], blurred[x], damped_below_);
    });
    spectrum = fft_.forward(
        [&](std::int64_t y, double* to) { std::copy_n(row_of(ratio_, y), width, to); });
    multiply(spectrum, transfer_, true);
    previous_.swap(estimate_);
    last_.swap(step_);
    fft_.backward(std::move(spectrum), [&](std::int64_t y, const double* correction) {
      const double* sharp = row_of(sharp_, y);
      double *now = row_of(estimate_, y), *step = row_of(step_, y);
      for (std::int64_t x = 0; x < width; ++x) {
        now[x] = above_zero(sharp[x] * correction[x] / normal_);
        step[x] = now[x] - sharp[x];
      }
    });
  }

  const PlaneFft& fft_;
  const Spectrum transfer_;
  const double normal_, damped_below_;
  const bool accelerated_;
  Numbers image_, estimate_, previous_, sharp_, ratio_, step_, last_;
};

ImageValue lower_deconvlucy(const Call& call, PlanBuilder& plan) {
  need_white(call, plan.current());
  const double damping = call.number("damping");
  const SpectralWork work{.kind = SpectralWork::Kind::lucy,
                          .white = plan.current().type.white,
                          .damped_below = damping * damping / 2,
                          .accelerated = call.word("accelerate") == "on",
                          .iterations = static_cast<int>(call.number("n"))};
  const auto make = [=](const Matrix& psf, const PlaneFft& fft, const Plane& from, Plane& to) {
    Lucy(psf, fft, work.damped_below, work.accelerated).run(from, work.white, work.iterations, to);
  };
  return each_channel(call, plan, kernel_argument(call, "psf"), 1, 10, make, work);
}

void taper(const Matrix& psf, const PlaneFft& fft, const Plane& from, Plane& to) {
  const Size size = from.size();
  const Taper beta = taper_of({.rows = psf.rows, .columns = psf.columns, .psf = psf.values},
                              size.height, size.width);
  const ReadRow read = rows_of(from);
  const WriteRow write = rows_to(to);
  std::vector<double> values(static_cast<std::size_t>(size.pixels()));
  for (std::int64_t y = 0; y < size.height; ++y) read(y, values.data() + y * size.width);
  auto [least, largest] = std::ranges::minmax(values);
  least += 0.0, largest += 0.0;  // no -0, which one of two zeros may be
  Spectrum spectrum = fft.forward(read);
  multiply(spectrum, transfer_of(psf, fft));
  fft.backward(std::move(spectrum),
               [&, least = least, largest = largest](std::int64_t y, const double* blurred) {
                 double* row = values.data() + y * size.width;
                 for (std::int64_t x = 0; x < size.width; ++x) {
                   const double alpha = (1 - beta.down[static_cast<std::size_t>(y)]) *
                                        (1 - beta.across[static_cast<std::size_t>(x)]);
                   row[x] = std::clamp(alpha * row[x] + (1 - alpha) * blurred[x], least, largest);
                 }
                 write(y, row);
               });
}

ImageValue lower_edgetaper(const Call& call, PlanBuilder& plan) {
  Matrix psf = kernel_argument(call, "psf");
  const double sum = sum_of(psf);
  if (sum == 0) call.fail("psf", "its values add up to 0");
  for (double& value : psf.values) value /= sum;
  return each_channel(call, plan, psf, 2, 3, taper, {.kind = SpectralWork::Kind::taper});
}

const RegisterOperator deconvwnr_operator{{
    .name = "deconvwnr",
    .help = "Wiener's filter: takes a known blur back where there is noise",
    .parameters = {psf_parameter,
                   {.name = "nsr",
                    .help = "power of the noise by that of the signal",
                    .numbers = {.max_count = 1, .low = 0, .high = 1e9},
                    .fallback = "0"}},
    .classes = no_logical,
    .details =
        R"(The real part of the inverse transform of conj(T) F / max(|T|^2 + nsr, 2^-26), F the image's transform, T
that of the psf (psf2otf), which is taken as it is: its values should add up to 1. The image goes on at the
other end of each side; edgetaper makes that hardly visible. nsr = 0 amplifies rounding wherever T is small.
Each channel by itself, the class stays, alpha too. In double.)",
    .example = "deconvwnr fspecial:gaussian,7,1.5 nsr=0.01",
    .accuracy = "1e-5 of the largest value from nsr 1e-3 on",
    .not_finite = nan_fills,
    .matlab = "deconvwnr(I,psf,nsr) (near: its floor of |T|^2 is not public)",
    .lower = lower_deconvwnr,
}};

const RegisterOperator deconvlucy_operator{{
    .name = "deconvlucy",
    .help = "Richardson's and Lucy's iteration: takes a known blur back, with no value below 0",
    .parameters = {psf_parameter,
                   {.name = "n",
                    .letter = 'n',
                    .help = "iterations",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 10000},
                    .fallback = "10"},
                   {.name = "damping",
                    .help = "deviation from the image, in parts of white, below which noise is not "
                            "sharpened",
                    .numbers = {.max_count = 1, .low = 0, .high = 1e6},
                    .fallback = "0"},
                   {.name = "accelerate",
                    .help = "whether iterations go on along the last step; off: the plain ones",
                    .words = {"on", "off"},
                    .fallback = "on"}},
    .classes = no_logical,
    .details =
        R"(On parts of white, from J = image on: J = max(Y (T' * ratio) / S, 0), ratio = image / (T * Y), T the
psf, T' the psf turned by 180 degrees, S its sum, * the convolution whose image goes on at the other end
of each side. Y is J, or with accelerate, from the third iteration on, J + lambda (J - last J), lambda the
products of the last two steps by the squares of the one before, in [0, 1]. With damping the ratio is
1 + g^9 (10 - 9g)(ratio - 1), g = min(2 / damping^2 (w ln ratio + b - w), 1), w the image, b = T * Y.
accelerate=off is scikit-image's richardson_lucy but for the border. Each channel by itself, the class
stays, alpha too. In double.)",
    .example = "deconvlucy fspecial:gaussian,7,1.5 n=20",
    .accuracy = "1e-3 of the largest value",
    .not_finite = nan_fills,
    .matlab = "deconvlucy(I,psf,iter,dampar) (near; without weights, readout and subsampling)",
    .lower = lower_deconvlucy,
}};

const RegisterOperator edgetaper_operator{{
    .name = "edgetaper",
    .help = "blurs an image towards its borders, before deconvwnr or deconvlucy",
    .parameters = {psf_parameter},
    .classes = no_logical,
    .details =
        R"(alpha image + (1 - alpha) blurred, cut to the image's smallest and largest value; blurred: the image under
the psf, divided by its sum, going on at the other end of each side. alpha = (1 - beta_rows)(1 - beta_columns),
beta the psf's sums along the other dimension, correlated with themselves, 1 at both ends of a side; 0 where
the psf has one element. A psf larger than half of the image is an error. Each channel by itself, the class
stays, alpha too. In double.)",
    .example = "edgetaper fspecial:gaussian,11,3 | deconvwnr fspecial:gaussian,11,3 nsr=0.01",
    .accuracy = "1e-5 of the largest value",
    .not_finite = nan_fills,
    .matlab = "edgetaper(I,PSF) (near)",
    .lower = lower_edgetaper,
}};

}  // namespace
}  // namespace impipe::ops
