// radon: sums of the image along parallel rays.
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

ImageValue lower_radon(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const std::vector<double>& angles = call.numbers("theta");
  return plan.whole(Project{static_cast<int>(angles.size())}, {plan.current()},
                    std::vector<Arg>(angles.begin(), angles.end()), single_result);
}

const RegisterOperator radon_operator{{
    .name = "radon",
    .help = "sums along parallel rays, one column of the result an angle",
    .parameters = {{.name = "theta",
                    .letter = 't',
                    .help = "the angles in degrees, a list or a range, in the order of the columns",
                    .numbers = {.max_count = 100000},
                    .fallback = "0:179"}},
    .one_channel = true,
    .details =
        "Every pixel is four of a quarter of its value, half a pixel apart; each is shared "
        "linearly\n"
        "by the two bins that x cos(theta) - y sin(theta) lies between, x to the right and y down\n"
        "from pixel floor((size + 1) / 2). There are 2 ceil(sqrt(W^2 + H^2) / 2 + 1) + 1 bins, "
        "one\n"
        "a row; each column sums to the sum of the image. Values are on the image's own scale; "
        "the\n"
        "result is single and has no white.",
    .example = "radon 0:0.5:179.5 | mat2gray",
    .accuracy = "1e-6 of the largest sum",
    .not_finite = {NotFinite::Rule::other,
                   "NaN makes NaN of every sum that takes it; iradon filters whole columns"},
    .matlab = "radon(I,theta) (MATLAB has a few rows less or more, zeros at both ends)",
    .lower = lower_radon,
}};

}  // namespace
}  // namespace impipe::ops
