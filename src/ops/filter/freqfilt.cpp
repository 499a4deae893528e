// freqfilt: multiplies the spectrum of an image by a transfer function.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/page_operation.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

FrequencyGain gain_argument(const Call& call) {
  const std::string &type = call.word("type"), &shape = call.word("shape");
  const std::vector<double>& cutoffs = call.numbers("cutoff");
  if (call.given("order") && shape != "butterworth") {
    call.fail("order", "shape " + shape + " has no order, butterworth has one");
  }
  const bool band = type == "band" || type == "stop";
  if (cutoffs.size() != (band ? 2 : 1)) {
    call.fail("cutoff", type + (band ? " takes two cut-offs, f1,f2" : " takes one cut-off"));
  }
  if (band && cutoffs[0] >= cutoffs[1]) call.fail("cutoff", "the lower cut-off comes first");
  FrequencyGain gain{.order = call.number("order"), .cutoffs = {cutoffs[0], cutoffs.back()}};
  if (type == "high") gain.type = FrequencyGain::Type::high;
  if (type == "band") gain.type = FrequencyGain::Type::band;
  if (type == "stop") gain.type = FrequencyGain::Type::stop;
  if (shape == "butterworth") gain.shape = FrequencyGain::Shape::butterworth;
  if (shape == "ideal") gain.shape = FrequencyGain::Shape::ideal;
  return gain;
}

Spectrum transfer_by(const FrequencyGain& gain, Size size) {
  Spectrum out(size, true);
  out.change([&](std::int64_t row, std::int64_t column, std::complex<double>) {
    const double fy = frequency(row, size.height), fx = frequency(column, size.width);
    return std::complex<double>(gain(std::sqrt(fy * fy + fx * fx)));
  });
  return out;
}

// The transfer function in an image of one channel, or of real and imaginary part. Only the real
// part of the result is kept: that is to multiply each frequency by the mean of its own factor and
// the conjugate of the factor at the opposite frequency.
Spectrum transfer_in(const Planes& planes, bool shifted) {
  const Size size = planes.front().size();
  const auto at = [&](std::int64_t row, std::int64_t column) {
    const std::int64_t y = (row + (shifted ? size.height / 2 : 0)) % size.height;
    const std::int64_t x = (column + (shifted ? size.width / 2 : 0)) % size.width;
    return std::complex<double>(pixel_at(planes.front(), x, y),
                                planes.size() > 1 ? pixel_at(planes.back(), x, y) : 0);
  };
  Spectrum out(size, true);
  out.change([&](std::int64_t row, std::int64_t column, std::complex<double>) {
    const std::complex<double> opposite =
        at((size.height - row) % size.height, (size.width - column) % size.width);
    return (at(row, column) + std::conj(opposite)) / 2.0;
  });
  return out;
}

// The image with the transfer function; none where numbers describe it.
std::optional<ImageValue> transfer_argument(const Call& call, PlanBuilder& plan) {
  if (!call.has("h")) {
    if (!call.has("cutoff")) call.fail("it takes a cut-off in cycles a pixel, or h=:image");
    return {};
  }
  for (const std::string_view other : {"type", "shape", "cutoff", "order", "boundary"}) {
    if (call.given(other)) call.fail(other, std::string(other) + " does not go with h");
  }
  const ImageValue image = plan.operand(call, call.value("h").operands.front());
  if (image.type.channels > 2) {
    call.fail("h", "the image has " + std::to_string(image.type.channels) +
                       " channels; it takes one, or real and imaginary part");
  }
  return image;
}

ImageValue lower_freqfilt(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const std::optional<ImageValue> h = transfer_argument(call, plan);
  std::optional<FrequencyGain> gain;
  if (!h) gain = gain_argument(call);
  if (!h && call.given("shift")) call.fail("shift", "shift goes with h");
  const bool shifted = call.word("shift") == "on";
  const bool larger = call.word("boundary") != "circular";
  const Filling filling =
      call.word("boundary") == "symmetric" ? Filling::symmetric : Filling::zeros;
  const auto make = [=](std::span<const Planes> images, Planes& result) {
    const Size own = result.front().size();
    const PlaneFft fft(larger ? Size{2 * own.width, 2 * own.height} : own);
    const bool usable = gain || std::ranges::all_of(images[1], is_finite);
    const Spectrum transfer =
        gain ? transfer_by(*gain, fft.size()) : transfer_in(images[1], shifted);
    for (std::size_t c = 0; c < result.size(); ++c) {
      const Plane& from = images.front()[c];
      if (!usable || !is_finite(from)) {
        fill_with_nan(result[c]);
        continue;
      }
      Spectrum spectrum = fft.forward(rows_of(from, fft.size(), filling));
      multiply(spectrum, transfer);
      fft.backward(std::move(spectrum), rows_to(result[c]));
    }
  };
  SpectralWork work{.kind = h ? SpectralWork::Kind::factors : SpectralWork::Kind::gain,
                    .shifted = shifted};
  if (larger) {
    work.around = filling == Filling::symmetric ? SpectralWork::Around::symmetric
                                                : SpectralWork::Around::zeros;
  }
  if (gain) work.gain = *gain;
  std::vector<ImageValue> images{image};
  if (h) images.push_back(*h);
  return on_host(call, plan, images, like(image),
                 {.make = make,
                  .bytes_a_pixel = (larger ? 8 : 2) * bytes_of_spectrum * image.type.channels,
                  .spectral = work});
}

const RegisterOperator freqfilt_operator{{
    .name = "freqfilt",
    .help = "filters by frequency: low pass, high pass, band, or any function of frequencies",
    .parameters =
        {{.name = "type",
          .help = "what passes: low, high, or frequencies of a band; stop: all but a band",
          .words = {"low", "high", "band", "stop"},
          .fallback = "low"},
         {.name = "shape",
          .help = "how it falls off",
          .words = {"gaussian", "butterworth", "ideal"},
          .fallback = "gaussian"},
         {.name = "cutoff",
          .help = "in cycles a pixel (0.5: the highest along a row); band and stop: two, f1,f2",
          .numbers = {.max_count = 2, .low = 1e-9, .high = 1e9}},
         {.name = "order",
          .help = "of butterworth: how steep",
          .numbers = {.max_count = 1, .low = 0.01, .high = 1000},
          .fallback = "2"},
         {.name = "boundary",
          .help = "beside the image: itself again, zeros, or its mirror image",
          .words = {"circular", "zeros", "symmetric"},
          .fallback = "circular"},
         {.name = "h",
          .help = "instead of type: an image (:name) of the factors of all frequencies, of one "
                  "channel or real and imaginary part, of the image's size",
          .takes = Takes::operand},
         shift_parameter("whether frequency 0 of h lies in its middle, as fftshift has it")},
    .details =
        R"(The real part of the inverse transform of F T, F the image's transform (fft2). d = sqrt(fy^2 + fx^2),
fy and fx in cycles a pixel, -0.5 to 0.5. low: gaussian exp(-d^2 / (2 f^2)), butterworth
1 / (1 + (d / f)^(2 order)), ideal d <= f; high = 1 - low; band = low(f2) (1 - low(f1)); stop = 1 - band.
zeros and symmetric: in an image of twice the sides. Of h frequency 0 lies in the upper left corner, or in
the middle with shift=on: a mask painted on `fft2 log shift=on`; psf2otf makes one of a kernel. Each
channel by itself, the class stays, alpha too; logical: from a half on. In double.)",
    .example = "freqfilt high cutoff=0.02 boundary=symmetric",
    .accuracy = "1e-9 of the largest value before it is rounded to the class",
    .not_finite = {NotFinite::Rule::other,
                   "NaN and Inf make NaN of the whole channel; in h, of all"},
    .matlab = "real(ifft2(fft2(A) .* H)) (no such function; H as in fsamp2's or fwind1's examples)",
    .lower = lower_freqfilt,
}};

}  // namespace
}  // namespace impipe::ops
