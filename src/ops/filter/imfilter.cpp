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
  return correlate_colours(plan, image, call.word("mode") == "conv" ? rotated_half(kernel) : kernel,
                           {.border = outside.border,
                            .border_value = outside.value,
                            .extent = extent_named(call.word("size")),
                            .result = like(image),
                            .method = method_argument(call, kernel, image.type.cls)});
}

const RegisterOperator imfilter_operator{{
    .name = "imfilter",
    .help = "filter with a kernel; the class stays",
    .parameters = {{.name = "kernel",
                    .help = "a matrix, a named kernel (fspecial:average,3) or @file",
                    .takes = Takes::kernel,
                    .required = true},
                   {.name = "boundary",
                    .help = "outside the image: a number, replicate (aaa|abcd|ddd), symmetric "
                            "(cba|abcd|dcb) or circular (bcd|abcd|abc)",
                    .numbers = {.max_count = 1},
                    .words = {"replicate", "symmetric", "circular"},
                    .fallback = "0"},
                   {.name = "mode",
                    .help = "corr: the kernel as written; conv: turned by 180 degrees",
                    .words = {"corr", "conv"},
                    .fallback = "corr"},
                   {.name = "size",
                    .help = "same: the image's size; full: all sums that touch it",
                    .words = {"same", "full"},
                    .fallback = "same"},
                   method_parameter()},
    .details =
        "out(r,c) = sum K(i,j) P(r+i-a, c+j-a), a = floor((k-1)/2); P is the image with its\n"
        "surroundings. Computed in float32, then rounded half away from zero and saturated;\n"
        "logical: whether the sum is not 0. Terms where K is 0 are left out. Kernels of rank 1 "
        "are\n"
        "applied in two passes, rows first (not with a boundary number other than 0), those of "
        "codes\n"
        "under equal weights by sums in whole numbers, which cost the same for any size. Others of "
        "many\n"
        "weights (see method) by Fourier transforms of tiles, whose rounding is of the largest "
        "pixels of\n"
        "a tile of 512x512 or 1024x1024; sums of a logical image never are. What alpha hides has "
        "no "
        "part\n"
        "in colours; alpha is averaged too where no weight is below 0.",
    .example = "imfilter fspecial:average,5 replicate",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white times the sum of |K| "
                "(thousands of weights directly: 4e-6)",
    .not_finite =
        {NotFinite::Rule::spread,
         "weights that are 0 read nothing; sums by Fourier transforms spread it over a tile"},
    .matlab = "imfilter(A,K,boundary,mode,size) (same but for conv with even kernels, whose centre "
              "is floor((k-1)/2) here)",
    .lower = lower_imfilter,
}};

// Rows and columns with a gaussian of their own, each of side 2 ceil(2 sigma) + 1.
Matrix gaussian_of(const std::vector<double>& sigmas) {
  const auto side = [](double sigma) { return 2 * static_cast<int>(std::ceil(2 * sigma)) + 1; };
  const double down = sigmas.front(), across = sigmas.back();
  if (down == across) return gaussian_kernel(side(down), side(down), down);
  const Matrix column = gaussian_kernel(side(down), 1, down);
  const Matrix row = gaussian_kernel(1, side(across), across);
  Matrix out{column.rows, row.columns, {}};
  for (const double y : column.values) {
    for (const double x : row.values) out.values.push_back(y * x);
  }
  return out;
}

const RegisterOperator imgaussfilt_operator{{
    .name = "imgaussfilt",
    .help = "gaussian blur",
    .parameters = {{.name = "sigma",
                    .letter = 's',
                    .help = "standard deviation, in pixels; two: along rows,columns (down, across)",
                    .numbers = {.max_count = 2, .low = 0.01, .high = 60},
                    .fallback = "0.5"}},
    .details =
        "imfilter with fspecial:gaussian of side 2 ceil(2 sigma) + 1, replicate outside.\n"
        "Two sigmas: the product of a column and a row of those sides. Alpha is filtered too; what "
        "it\nhides has no part in colours.",
    .example = "imgaussfilt 1.4",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite =
        {NotFinite::Rule::spread,
         "weights that are 0 read nothing; sums by Fourier transforms spread it over a tile"},
    .matlab = "imgaussfilt(A,sigma) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          return correlate_colours(plan, plan.current(), gaussian_of(call.numbers("sigma")),
                                   {.border = Border::replicate, .result = like(plan.current())});
        },
}};

const RegisterOperator imboxfilt_operator{{
    .name = "imboxfilt",
    .help = "mean of a rectangle of pixels; the class stays",
    .parameters = {{.name = "size",
                    .letter = 'k',
                    .help = "rows,columns of the rectangle; one number: a square",
                    .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 255},
                    .fallback = "3"}},
    .details = "imfilter with fspecial:average of this size, replicate outside.",
    .example = "imboxfilt 5",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite =
        {NotFinite::Rule::spread,
         "weights that are 0 read nothing; sums by Fourier transforms spread it over a tile"},
    .matlab = "imboxfilt(A,size) (same; there sizes are odd)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const std::vector<double>& size = call.numbers("size");
          return correlate_colours(
              plan, plan.current(),
              average_kernel(static_cast<int>(size.front()), static_cast<int>(size.back())),
              {.border = Border::replicate, .result = like(plan.current())});
        },
}};

}  // namespace
}  // namespace impipe::ops
