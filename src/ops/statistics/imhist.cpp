// imhist: how many pixels have which value.
#include "ops/images.hpp"
#include "ops/statistics/across.hpp"

namespace impipe::ops {
namespace {

ImageValue lower_imhist(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  need_white(call, image);
  const bool logical = image.type.cls == PixelClass::logical;
  const int bins = call.has("bins") ? static_cast<int>(call.number("bins")) : logical ? 2 : 256;
  const bool codes = image.type.cls != PixelClass::single && !logical &&
                     bins == class_max(image.type.cls) + 1 &&
                     image.type.white == class_max(image.type.cls);
  plan.report_table(
      "imhist",
      plan.histogram({.rule = codes ? BinRule::codes : BinRule::centred, .bins = bins}, image));
  return plan.current();
}

const RegisterOperator imhist_operator{{
    .name = "imhist",
    .help = "histogram, a column of counts for each channel (-o NAME.npy saves it)",
    .parameters = {{.name = "bins",
                    .letter = 'n',
                    .help = "number of bins; 256 when not given, 2 for logical",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 65536}},
                   measured_image_parameter(),
                   across_parameter()},
    .details =
        "bin = floor(v (n-1) / white + 0.5) with v clamped to [0, white]: the bins are centred\n"
        "on k white / (n-1), so the two at the ends are half as wide. NaN is not counted.\n"
        "The counts are columns of the report, more than 4,096 only with --json; -o "
        "'{stem}.npy' saves\nthem.",
    .example = "imhist 16",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out, "Inf is counted in the bin at its end"},
    .matlab = "imhist(A,n) (same; MATLAB counts NaN as 0)",
    .lower = lower_imhist,
}};

}  // namespace
}  // namespace impipe::ops
