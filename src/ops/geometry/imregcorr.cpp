// imregcorr: the translation between two images by phase correlation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/images.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Peak {
  std::int64_t x = 0, y = 0;
  double value = nan;
  // Keeps the value if it is the largest so far by more than a rounding error.
  void take(std::int64_t at_x, std::int64_t at_y, double at) {
    constexpr double rounding = 1e-9;
    if (std::isnan(at)) return;
    if (std::isnan(value) || at > value + rounding * std::abs(value)) *this = {at_x, at_y, at};
  }
};

// 0.5 - 0.5 cos(2 pi (i + 1/2) / n).
std::vector<double> hann(std::int64_t n) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(0.5 - 0.5 * turn(2 * i + 1, 2 * n).real());
  return out;
}

ReadRow windowed(const Plane& plane, bool by_hann) {
  if (!by_hann) return rows_of(plane);
  return [read = rows_of(plane), across = hann(plane.size().width),
          down = hann(plane.size().height)](std::int64_t y, double* row) {
    read(y, row);
    for (std::size_t x = 0; x < across.size(); ++x) {
      row[x] *= across[x] * down[static_cast<std::size_t>(y)];
    }
  };
}

// conj(F(a)) F(b), each frequency divided by its magnitude unless that is negligible.
Spectrum phases(const Plane& a, const Plane& b, bool by_hann, const PlaneFft& fft) {
  Spectrum out = fft.forward(windowed(b, by_hann));
  multiply(out, fft.forward(windowed(a, by_hann)), true);
  double largest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.re.size()); ++i) {
    for (std::size_t lane = 0; lane < out.re[i].of.size(); ++lane) {
      largest = std::max(largest, std::hypot(out.re[i].of[lane], out.im[i].of[lane]));
    }
  }
  out.change([&](std::int64_t, std::int64_t, std::complex<double> c) {
    return c / std::max(std::abs(c), 1e-10 * largest);
  });
  return out;
}

// The peak in whole pixels; shifts of more than half a side are negative ones.
Peak whole_shift(const Spectrum& spectrum, const PlaneFft& fft) {
  const Size size = fft.size();
  std::vector<Peak> rows(static_cast<std::size_t>(size.height));
  fft.backward(spectrum, [&](std::int64_t y, const double* row) {
    for (std::int64_t x = 0; x < size.width; ++x)
      rows[static_cast<std::size_t>(y)].take(x, y, row[x]);
  });
  Peak peak;
  for (const Peak& row : rows) peak.take(row.x, row.y, row.value);
  if (peak.x > size.width / 2) peak.x -= size.width;
  if (peak.y > size.height / 2) peak.y -= size.height;
  return peak;
}

// exp(2 pi i f (around + (begin + i) / parts)) for each of the n frequencies f and i < count.
std::vector<std::complex<double>> waves(std::int64_t n, std::int64_t around, std::int64_t begin,
                                        std::int64_t count, std::int64_t parts) {
  std::vector<std::complex<double>> out;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double shift =
          static_cast<double>(around) + static_cast<double>(begin + i) / static_cast<double>(parts);
      const double angle = 2 * std::numbers::pi * frequency(k, n) * shift;
      out.emplace_back(std::cos(angle), std::sin(angle));
    }
  }
  return out;
}

// to[i] += factor row[i].
void add(std::complex<double> factor, const std::complex<double>* row, std::int64_t count,
         std::complex<double>* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += std::complex(factor.real() * row[i].real() - factor.imag() * row[i].imag(),
                          factor.real() * row[i].imag() + factor.imag() * row[i].real());
  }
}

// dx, dy and the peak in steps of 1 / parts of a pixel, around a shift in whole pixels.
std::vector<double> part_shift(const Spectrum& spectrum, const Peak& whole, std::int64_t parts) {
  const Size size = spectrum.size();
  const std::int64_t count = (3 * parts + 1) / 2, begin = -(count / 2);
  const auto across = waves(size.width, whole.x, begin, count, parts);
  const auto down = waves(size.height, whole.y, begin, count, parts);
  std::vector<std::complex<double>> rows(static_cast<std::size_t>(size.height * count));
  for_each_part(size.height, [&](std::int64_t k) {
    for (std::int64_t l = 0; l < size.width; ++l) {
      add(spectrum.at(k, l), across.data() + l * count, count, rows.data() + k * count);
    }
  });
  // The zero shift comes first: along a constant axis every shift scores the same.
  const auto nth = [&](std::int64_t n) { return n == 0 ? -begin : n <= -begin ? n - 1 : n; };
  Peak peak{.x = -begin, .y = -begin};
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t j = nth(n);
    std::vector<std::complex<double>> sums(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < size.height; ++k) {
      add(down[static_cast<std::size_t>(k * count + j)], rows.data() + k * count, count,
          sums.data());
    }
    for (std::int64_t m = 0; m < count; ++m) {
      peak.take(nth(m), j, std::abs(sums[static_cast<std::size_t>(nth(m))]));
    }
  }
  const auto shift = [&](std::int64_t around, std::int64_t i) {
    return static_cast<double>(around) +
           static_cast<double>(begin + i) / static_cast<double>(parts);
  };
  return {shift(whole.x, peak.x), shift(whole.y, peak.y),
          peak.value / static_cast<double>(size.pixels())};
}

std::vector<double> registered(const Plane& a, const Plane& b, bool by_hann, std::int64_t parts) {
  if (!(a.size() == b.size())) {
    throw Error("imregcorr: the current image is " + to_string(a.size()) + ", the other is " +
                    to_string(b.size()),
                ExitCode::file_failed);
  }
  if (!is_finite(a) || !is_finite(b)) return {nan, nan, nan};
  const PlaneFft fft(a.size());
  const Spectrum spectrum = phases(a, b, by_hann, fft);
  const Peak whole = whole_shift(spectrum, fft);
  if (parts > 1) return part_shift(spectrum, whole, parts);
  return {static_cast<double>(whole.x), static_cast<double>(whole.y), whole.value};
}

const RegisterOperator imregcorr_operator{{
    .name = "imregcorr",
    .help = "by how much an image has moved: the translation that brings it onto another",
    .category = "statistics",
    .parameters = {{.name = "fixed",
                    .help = "the image (:name) that it is brought onto, of equal size",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "window",
                    .help = "hann: both fade towards their borders, which otherwise correlate, too",
                    .words = {"none", "hann"},
                    .fallback = "none"},
                   {.name = "subpixel",
                    .letter = 'u',
                    .help = "steps a pixel of the shifts",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 100},
                    .fallback = "1"}},
    .one_channel = true,
    .table = true,
    .details =
        R"(Phase correlation: p, the inverse transform of C / max(|C|, 1e-10 max |C|), C = conj(F(a)) F(b), is
largest at the shift dx dy by which `imtranslate translate=dx,dy` brings the image a onto b, going on at the
other end of each side; peak is p there, 1 where they are equal. With subpixel the shift is then sought
in steps of 1 / subpixel up to three quarters of a pixel around it, of the same sum at such places.
Columns: dx dy peak; `imregcorr :b as t | imtranslate t.dx,t.dy` takes the shift back; -o '{stem}.npy' saves
them. Translation alone, no rotation or scale. On the host.)",
    .example = "as a | circshift 3,5 | imregcorr :a",
    .accuracy = "dx, dy exact, peak 1e-4",
    .not_finite = {NotFinite::Rule::other, "NaN and Inf make NaN of all three"},
    .matlab =
        "imregcorr(moving,fixed,'translation') (differs: it takes a window and finds parts of "
        "pixels of its own; no rotation and scale)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          const ImageValue fixed = gray_operand(call, plan, call.value("fixed").operands.front());
          const bool by_hann = call.word("window") == "hann";
          const auto parts = static_cast<std::int64_t>(call.number("subpixel"));
          plan.report_objects("imregcorr", {.labels = image.id,
                                            .intensities = fixed.id,
                                            .columns = {"dx", "dy", "peak"},
                                            .rows = [=](const Plane& a, const Plane* b) {
                                              return registered(a, *b, by_hann, parts);
                                            }});
          return image;
        },
}};

}  // namespace
}  // namespace impipe::ops
