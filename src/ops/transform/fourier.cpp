// fft2, ifft2, dct2, idct2, fftshift and ifftshift: images as sums of waves.
#include <string>

#include "core/page_fourier.hpp"
#include "ops/images.hpp"
#include "ops/volume/volume.hpp"

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
    .category = "transform",
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
    .category = "transform",
    .details = "Moves rows up by floor(H / 2) and columns to the left by floor(W / 2): what\n"
               "fftshift did is undone, also of odd sizes. Alpha moves too.",
    .example = "fft2 shift=on | ifftshift | ifft2",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "ifftshift(A) (same; of each channel)",
    .lower = [](const Call&, PlanBuilder& plan) { return seen_from(plan, 0.0, 0.5); },
}};

ComplexPart part_named(std::string_view name) {
  if (name == "real") return ComplexPart::real;
  if (name == "magnitude") return ComplexPart::magnitude;
  if (name == "power") return ComplexPart::power;
  if (name == "log") return ComplexPart::log;
  if (name == "phase") return ComplexPart::phase;
  return ComplexPart::complex;
}

Parameter shift_parameter(std::string_view help) {
  return {.name = "shift", .help = help, .words = {"on", "off"}, .fallback = "off"};
}

constexpr NotFinite fills{NotFinite::Rule::other, "NaN and Inf make NaN of the whole channel"};

// Of results that have no place for it.
ImageValue without_alpha(const Call&, PlanBuilder& plan) {
  plan.drop_alpha();
  return plan.current();
}

const RegisterOperator fft2_operator{{
    .name = "fft2",
    .help = "two-dimensional Fourier transform: its complex numbers, magnitudes or phases",
    .category = "transform",
    .parameters = {{.name = "parts",
                    .help =
                        "complex: real and imaginary part as two channels; or one of magnitude, "
                        "power, log (ln(1 + magnitude)) and phase (radians)",
                    .words = {"complex", "magnitude", "power", "log", "phase"},
                    .fallback = "complex"},
                   shift_parameter("whether frequency 0 lies in the middle: fftshift afterwards")},
    .details =
        R"(F(k,l) = sum a(r,c) exp(-2 pi i (k r / H + l c / W)) of the raw values, each channel by itself, of any
size. The result is single and has no white; complex has two channels for each of the image's: re1 im1
re2 im2 ... (.npy and TIFF hold any number). The imaginary part is 0 where it is by symmetry, so that a
phase there is 0 or pi. Alpha is dropped. In double, on the host, page by page; pages of a file must be
equal in size, class and channels. An image kept with `as` ends here.)",
    .example = "fft2 log shift=on | mat2gray",
    .accuracy = "6e-8 of the largest value (power 2e-6, log 1e-4, phase 1e-3)",
    .not_finite = fills,
    .matlab = "fft2(A) (same), abs(fft2(A)), log(1 + abs(fft2(A))), angle(fft2(A))",
    .lower = without_alpha,
    .reduction =
        [](const Call& call) {
          return of_volume(
              fourier_pages(part_named(call.word("parts")), call.word("shift") == "on"));
        },
}};

const RegisterOperator ifft2_operator{{
    .name = "ifft2",
    .help = "inverse of fft2: the image of a spectrum of complex numbers",
    .category = "transform",
    .parameters = {{.name = "parts",
                    .help = "of the result's complex numbers; complex: two channels",
                    .words = {"real", "complex", "magnitude", "power", "log", "phase"},
                    .fallback = "real"},
                   shift_parameter("whether frequency 0 lies in the middle: ifftshift before")},
    .details =
        R"(a(r,c) = 1 / (H W) sum F(k,l) exp(2 pi i (k r / H + l c / W)). Channels are pairs of real and imaginary
part, as fft2 writes them; one channel is of real numbers. real drops the imaginary part. The result is
single and has no white, in the raw units of the image that fft2 had. Alpha is dropped. In double, on the
host, page by page; pages of a file must be equal in size, class and channels. An image kept with `as`
ends here.)",
    .example = "fft2 | ifft2",
    .accuracy = "6e-8 of the largest value (power 2e-6, log 1e-4, phase 1e-3)",
    .not_finite = fills,
    .matlab = "real(ifft2(F)) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const int channels = plan.current().type.channels;
          if (channels > 1 && channels % 2 != 0) {
            call.fail("the image has " + std::to_string(channels) +
                      " channels; it takes pairs of real and imaginary parts, or one channel");
          }
          return without_alpha(call, plan);
        },
    .reduction =
        [](const Call& call) {
          return of_volume(
              inverse_fourier_pages(part_named(call.word("parts")), call.word("shift") == "on"));
        },
}};

constexpr std::string_view cosine_details =
    R"(D = M_H A M_W', M_n(k,j) = sqrt(2 / n) cos(pi k (2 j + 1) / (2 n)), row 0 divided by sqrt 2: orthonormal,
of the raw values, each channel by itself, of any size. The result is single and has no white. Alpha is
dropped. In double, on the host, page by page; pages of a file must be equal in size, class and channels.
An image kept with `as` ends here.)";

const RegisterOperator dct2_operator{{
    .name = "dct2",
    .help = "two-dimensional cosine transform",
    .category = "transform",
    .details = cosine_details,
    .example = "dct2",
    .accuracy = "6e-8 of the largest value",
    .not_finite = fills,
    .matlab = "dct2(A) (same)",
    .lower = without_alpha,
    .reduction = [](const Call&) { return of_volume(cosine_pages(false)); },
}};

const RegisterOperator idct2_operator{{
    .name = "idct2",
    .help = "inverse of dct2",
    .category = "transform",
    .details =
        R"(A = M_H' D M_W with the matrices of dct2, each channel by itself, of any size. The result is single and
has no white, in the raw units of the image that dct2 had. Alpha is dropped. In double, on the host, page
by page; pages of a file must be equal in size, class and channels. An image kept with `as` ends here.)",
    .example = "dct2 | idct2",
    .accuracy = "6e-8 of the largest value",
    .not_finite = fills,
    .matlab = "idct2(A) (same)",
    .lower = without_alpha,
    .reduction = [](const Call&) { return of_volume(cosine_pages(true)); },
}};

}  // namespace
}  // namespace impipe::ops
