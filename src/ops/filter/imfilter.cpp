// imfilter and imgaussfilt: filters that keep the image's class.
#include <cmath>

#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

ImageValue lower_imfilter(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Matrix kernel = kernel_argument(call, "kernel");
  const BorderArgument outside = border_argument(call, "boundary", image.type.cls);
  return correlate(plan, image, call.word("mode") == "conv" ? rotated_half(kernel) : kernel,
                   {.border = outside.border,
                    .border_value = outside.value,
                    .extent = extent_named(call.word("size")),
                    .result = like(image)});
}

const RegisterOperator imfilter_operator{{
    .name = "imfilter",
    .help = "filter with a kernel; the class stays",
    .category = "filter",
    .parameters = {{.name = "kernel",
                    .help = "a matrix, a named kernel (fspecial:average,3) or @file",
                    .takes = Takes::kernel,
                    .required = true},
                   {.name = "boundary",
                    .help = "outside the image: a number, replicate (aaa|abcd|ddd), symmetric "
                            "(cba|abcd|dcb) or circular (bcd|abcd|abc)",
                    .most_numbers = 1,
                    .words = {"replicate", "symmetric", "circular"},
                    .fallback = "0"},
                   {.name = "mode",
                    .help = "corr: the kernel as written; conv: turned by 180 degrees",
                    .words = {"corr", "conv"},
                    .fallback = "corr"},
                   {.name = "size",
                    .help = "same: the image's size; full: all sums that touch it",
                    .words = {"same", "full"},
                    .fallback = "same"}},
    .details =
        "out(r,c) = sum K(i,j) P(r+i-a, c+j-a), a = floor((k-1)/2); P is the image with its\n"
        "surroundings. Computed in float32, then rounded half away from zero and saturated;\n"
        "logical: whether the sum is not 0. Terms where K is 0 are left out. Kernels of rank 1 "
        "are\n"
        "applied in two passes, rows first (not with a boundary number other than 0).",
    .example = "imfilter fspecial:average,5 replicate",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white times the sum of |K|",
    .matlab = "imfilter(A,K,boundary,mode,size) (same but for conv with even kernels, whose centre "
              "is floor((k-1)/2) here)",
    .lower = lower_imfilter,
}};

const RegisterOperator imgaussfilt_operator{{
    .name = "imgaussfilt",
    .help = "gaussian blur",
    .category = "filter",
    .parameters = {{.name = "sigma",
                    .letter = 's',
                    .help = "standard deviation, in pixels",
                    .most_numbers = 1,
                    .low = 0.01,
                    .high = 60,
                    .fallback = "0.5"}},
    .details = "imfilter with fspecial:gaussian of side 2 ceil(2 sigma) + 1, replicate outside.",
    .example = "imgaussfilt 1.4",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .matlab = "imgaussfilt(A,sigma) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const double sigma = call.number("sigma");
          const int side = 2 * static_cast<int>(std::ceil(2 * sigma)) + 1;
          return correlate(plan, plan.current(), gaussian_kernel(side, side, sigma),
                           {.border = Border::replicate, .result = like(plan.current())});
        },
}};

}  // namespace
}  // namespace impipe::ops
