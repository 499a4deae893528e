// fft2, ifft2, fftshift and ifftshift: images as sums of waves.
#include <algorithm>
#include <string>

#include "core/page_operation.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

// The image through a window of its size that begins at number + part of its sides.
ImageValue seen_from(PlanBuilder& plan, double number, double part) {
  return plan.window({.border = Border::circular}, plan.current(),
                     {number, part, 0.0, 1.0, number, part, 0.0, 1.0});
}

const RegisterOperator fftshift_operator{{
    .name = "fftshift",
    .help = "moves frequency 0 of a spectrum from the upper left corner to the middle",
    .details = "Moves rows down by floor(H / 2) and columns to the right by floor(W / 2); what\n"
               "leaves one side comes in at the other. Alpha moves too.",
    .example = "fft2 log | fftshift | mat2gray",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "fftshift(A) (same; of each channel)",
    .lower = [](const Call&, PlanBuilder& plan) { return seen_from(plan, 0.5, -0.5); },
}};

const RegisterOperator ifftshift_operator{{
    .name = "ifftshift",
    .help = "moves frequency 0 of a spectrum from the middle to the upper left corner",
    .details = "Moves rows up by floor(H / 2) and columns to the left by floor(W / 2): what\n"
               "fftshift did is undone, also of odd sizes. Alpha moves too.",
    .example = "fft2 shift=on | ifftshift | ifft2",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "ifftshift(A) (same; of each channel)",
    .lower = [](const Call&, PlanBuilder& plan) { return seen_from(plan, 0.0, 0.5); },
}};

// Spectra have no alpha.
ImageValue lower_fft2(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const ComplexPart part = part_argument(call);
  const bool shifted = call.word("shift") == "on";
  const auto make = [=](std::span<const Planes> images, Planes& result) {
    const Planes& planes = images.front();
    const PlaneFft fft(planes.front().size());
    const auto each = static_cast<std::size_t>(channels_of(part));
    for (std::size_t c = 0; c < planes.size(); ++c) {
      if (is_finite(planes[c])) {
        store_spectrum(fft.forward(rows_of(planes[c])), part, shifted, result, each * c);
      } else {
        for (std::size_t i = 0; i < each; ++i) fill_with_nan(result[each * c + i]);
      }
    }
  };
  return on_host(call, plan, {image}, numbers(channels_of(part) * image.type.channels),
                 {.make = make,
                  .bytes_a_pixel = 2 * bytes_of_spectrum * image.type.channels,
                  .spectral = SpectralWork{.part = part, .shifted = shifted}});
}

// Reads one part of a spectrum whose frequency 0 is in the corner, or, shifted, in the middle.
ReadRow rows_from(const Plane& plane, bool shifted) {
  return [&plane, shifted](std::int64_t y, double* row) {
    const Size size = plane.size();
    load_row(plane, shifted ? (y + size.height / 2) % size.height : y, row);
    if (shifted) std::rotate(row, row + size.width / 2, row + size.width);
  };
}

// The inverse transform is the transform with real and imaginary parts exchanged, scaled.
ImageValue lower_ifft2(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const int channels = image.type.channels;
  if (channels > 1 && channels % 2 != 0) {
    call.fail("the image has " + std::to_string(channels) +
              " channels; it takes pairs of real and imaginary parts, or one channel");
  }
  const ComplexPart part = part_argument(call);
  const bool shifted = call.word("shift") == "on";
  const auto make = [=](std::span<const Planes> images, Planes& result) {
    const Planes& planes = images.front();
    const Size size = planes.front().size();
    const PlaneFft fft(size);
    const auto zeros = [&](std::int64_t, double* row) { std::fill_n(row, size.width, 0.0); };
    const double scale = 1 / static_cast<double>(size.pixels());
    const auto each = static_cast<std::size_t>(channels_of(part));
    for (std::size_t c = 0; c < result.size() / each; ++c) {
      const Plane& re = planes[channels == 1 ? c : 2 * c];
      const Plane& im = planes[channels == 1 ? c : 2 * c + 1];
      if (!is_finite(re) || !is_finite(im)) {
        for (std::size_t i = 0; i < each; ++i) fill_with_nan(result[each * c + i]);
        continue;
      }
      const Spectrum swapped = fft.forward(channels == 1 ? ReadRow(zeros) : rows_from(im, shifted),
                                           rows_from(re, shifted));
      const auto copy_row = [&](std::int64_t y, double* to_re, double* to_im) {
        swapped.copy_row(y, to_im, to_re);
        for (std::int64_t x = 0; x < size.width; ++x) to_re[x] *= scale, to_im[x] *= scale;
      };
      store_part(copy_row, part, false, result, each * c);
    }
  };
  return on_host(call, plan, {image}, numbers(channels_of(part) * std::max(1, channels / 2)),
                 {.make = make,
                  .bytes_a_pixel = 4 * bytes_of_spectrum * image.type.channels,
                  .spectral = SpectralWork{
                      .kind = SpectralWork::Kind::inverse, .part = part, .shifted = shifted}});
}

const RegisterOperator fft2_operator{{
    .name = "fft2",
    .help = "two-dimensional Fourier transform: its complex numbers, magnitudes or phases",
    .parameters = {parts_parameter("complex"),
                   shift_parameter("whether frequency 0 lies in the middle: fftshift afterwards")},
    .details =
        R"(F(k,l) = sum a(r,c) exp(-2 pi i (k r / H + l c / W)) of the raw values, each channel by itself, of any
size. The result is single and has no white; complex has two channels for each of the image's: re1 im1
re2 im2 ... (.npy and TIFF hold any number). The imaginary part is 0 where it is by symmetry, so that a
phase there is 0 or pi. Alpha is dropped. In double.)",
    .example = "fft2 log shift=on | mat2gray",
    .accuracy = "6e-8 of the largest value (power 2e-6, log 1e-4, phase 1e-3)",
    .not_finite = nan_fills,
    .matlab = "fft2(A) (same), abs(fft2(A)), log(1 + abs(fft2(A))), angle(fft2(A))",
    .lower = lower_fft2,
}};

const RegisterOperator ifft2_operator{{
    .name = "ifft2",
    .help = "inverse of fft2: the image of a spectrum of complex numbers",
    .parameters = {parts_parameter("real"),
                   shift_parameter("whether frequency 0 lies in the middle: ifftshift before")},
    .details =
        R"(a(r,c) = 1 / (H W) sum F(k,l) exp(2 pi i (k r / H + l c / W)). Channels are pairs of real and imaginary
part, as fft2 writes them; one channel is of real numbers. real drops the imaginary part. The result is
single and has no white, in the raw units of the image that fft2 had. Alpha is dropped. In double.)",
    .example = "fft2 | ifft2",
    .accuracy = "6e-8 of the largest value (power 2e-6, log 1e-4, phase 1e-3)",
    .not_finite = nan_fills,
    .matlab = "real(ifft2(F)) (same)",
    .lower = lower_ifft2,
}};

}  // namespace
}  // namespace impipe::ops
