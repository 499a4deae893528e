// psf2otf: the spectrum of a kernel.
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/source/source_image.hpp"
#include "ops/transform/spectra.hpp"

namespace impipe::ops {
namespace {

const RegisterOperator psf2otf_operator{{
    .name = "psf2otf",
    .help = "the optical transfer function of a kernel: its transform at an image's size",
    .parameters = {{.name = "kernel",
                    .help = "a matrix [1 2 1; 2 4 2; 1 2 1]/16, fspecial:gaussian,7,1.5 or @file",
                    .takes = Takes::kernel,
                    .required = true},
                   size_parameter(true),
                   parts_parameter("complex"),
                   shift_parameter("whether frequency 0 lies in the middle: fftshift afterwards")},
    .details =
        R"(fft2 of size zeros with the kernel in their upper left corner, moved back by floor(side / 2), so that its
middle lies on pixel (0, 0). A kernel that is larger is an error. The result is single and has no white;
complex: real and imaginary part as two channels, also where the latter are as good as 0. It is what
`freqfilt h=:t` takes, with --with t=FILE.npy. In double, on the host.)",
    .example = "psf2otf fspecial:gaussian,9,2 size=64,64 magnitude shift=on",
    .accuracy = "6e-8 of the largest value (power 2e-6, log 1e-4, phase 1e-3)",
    .not_finite = {NotFinite::Rule::none},
    .matlab =
        "psf2otf(PSF,outSize) (there a real array where the imaginary parts are only rounding)",
    .describe =
        [](const Call& call) {
          const Matrix kernel = kernel_argument(call, "kernel");
          const Size size = size_argument(call);
          if (kernel.columns > size.width || kernel.rows > size.height) {
            call.fail("kernel", "the kernel is " + to_string(Size{kernel.columns, kernel.rows}) +
                                    ", larger than " + to_string(size));
          }
          const int channels = channels_of(part_argument(call));
          return MadeImage{{.cls = PixelClass::single, .channels = channels, .white = 0}, size};
        },
    .make =
        [](const Call& call) {
          const MadeImage made = call.op().describe(call);
          HostImage image(made.type, made.size);
          store_spectrum(transfer_of(kernel_argument(call, "kernel"), PlaneFft(made.size)),
                         part_argument(call), call.word("shift") == "on", image.planes, 0);
          return image;
        },
}};

}  // namespace
}  // namespace impipe::ops
