// conv2: true convolution, zeros outside, the result not rounded.
#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

Matrix conv2_kernel(const Call& call) {
  const bool sized = call.has("size"), named = call.given("kernel");
  if (!sized && !named) {
    call.fail(
        "give a kernel or a size: `conv2 k7`, `conv2 [1 2 1; 2 4 2; 1 2 1]/16` or "
        "`conv2 fspecial:gaussian,5,1.2`");
  }
  if (!sized) return kernel_argument(call, "kernel");
  const int size = static_cast<int>(call.number("size"));
  const std::string_view type = named ? call.word("kernel") : std::string_view("gaussian");
  if ((type != "gaussian" && type != "average") || !call.numbers("kernel").empty()) {
    call.fail("size", "size goes alone, or with `gaussian` or `average` without numbers");
  }
  return type == "average" ? average_kernel(size, size) : gaussian_kernel(size, size, size / 6.0);
}

ImageValue lower_conv2(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Matrix kernel = rotated_half(conv2_kernel(call));
  return correlate_colours(plan, image, kernel,
                           {.extent = extent_named(call.word("shape")),
                            .result = {.cls = PixelClass::single, .white = image.type.white},
                            .method = method_argument(call, kernel, PixelClass::single)});
}

const RegisterOperator conv2_operator{{
    .name = "conv2",
    .help = "convolve with a kernel; `conv2 k7` is a 7x7 gaussian with sigma 7/6",
    .parameters = {{.name = "kernel",
                    .help = "a matrix, a named kernel (fspecial:gaussian,5,1.2) or @file",
                    .takes = Takes::kernel},
                   {.name = "size",
                    .letter = 'k',
                    .help = "side k of a gaussian with sigma k/6 (or of `average`), in pixels",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 255}},
                   {.name = "shape",
                    .help =
                        "same: the image's size; full: all that touch it; valid: only sums that "
                        "need nothing from outside",
                    .words = {"same", "full", "valid"},
                    .fallback = "same"},
                   method_parameter()},
    .details =
        "full(r,c) = sum K(i,j) A(r-i, c-j), zeros outside the image; same is full shifted by\n"
        "floor(k/2); valid by k-1. The result is single on the image's own scale (white stays 255\n"
        "for uint8). Terms where K is 0 are left out, so NaN does not spread through them. "
        "Kernels\n"
        "of rank 1 (gaussian, average, sobel ...) are applied in two passes, rows first; others "
        "of\n"
        "many weights (see method) by Fourier transforms of tiles, whose rounding is of the "
        "largest\n"
        "pixels of a tile of 512x512 or 1024x1024. For integer results use imfilter.",
    .example = "imadjust | conv2 k7 | edge prewitt",
    .accuracy = "1e-6 of white times the sum of |K| (float32; thousands of weights directly: 4e-6)",
    .not_finite =
        {NotFinite::Rule::spread,
         "weights that are 0 read nothing; sums by Fourier transforms spread it over a tile"},
    .matlab = "conv2(A,K,shape) (there double for integer images; colour is filtered by channel)",
    .lower = lower_conv2,
}};

const RegisterOperator filter2_operator{{
    .name = "filter2",
    .help = "correlate with a kernel, zeros outside, the result not rounded",
    .parameters = {{.name = "kernel",
                    .help = "a matrix, a named kernel (fspecial:gaussian,5,1.2) or @file",
                    .takes = Takes::kernel,
                    .required = true},
                   {.name = "shape",
                    .help =
                        "same: the image's size; full: all that touch it; valid: only sums that "
                        "need nothing from outside",
                    .words = {"same", "full", "valid"},
                    .fallback = "same"},
                   method_parameter()},
    .details = "conv2 with the kernel turned by 180 degrees. The result is single on the image's "
               "own scale.",
    .example = "filter2 fspecial:sobel",
    .accuracy = "1e-6 of white times the sum of |K| (float32; thousands of weights directly: 4e-6)",
    .not_finite =
        {NotFinite::Rule::spread,
         "weights that are 0 read nothing; sums by Fourier transforms spread it over a tile"},
    .matlab = "filter2(K,A,shape) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          const Matrix kernel = kernel_argument(call, "kernel");
          return correlate_colours(
              plan, image, kernel,
              {.extent = extent_named(call.word("shape")),
               .result = {.cls = PixelClass::single, .white = image.type.white},
               .method = method_argument(call, kernel, PixelClass::single)});
        },
}};

}  // namespace
}  // namespace impipe::ops
