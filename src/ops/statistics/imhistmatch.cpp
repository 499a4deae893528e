// imhistmatch: an image whose histogram is near another image's.
#include "ops/images.hpp"

IMPIPE_POINT_BODY(bin_of_256, (x), (white), { return over(x, white) * real(255); })

// in: 256 counts of the image, then those of the reference; args: white. out[k]: the level whose
// part of the reference is nearest to the part of the image up to bin k, half of the bin less
// allowed.
IMPIPE_SCALAR_BODY(matched_levels, {
  const int bins = (int)count[1];
  double total = 0;
  double wanted = 0;
  for (int i = 0; i < 256; ++i) total += in[i];
  for (int j = 0; j < bins; ++j) wanted += in[256 + j];
  double cumulated = 0;
  for (int k = 0; k < 256; ++k) {
    cumulated += in[k];
    const double allowed = k > 0 && k < 255 ? in[k] / 2 : 0.0;
    double least = 0;
    double reached = 0;
    int level = 0;
    for (int j = 0; j < bins; ++j) {
      reached += in[256 + j] * total / wanted;
      const double off = (reached - cumulated) + allowed;
      const double error = off < -total / 67108864.0 ? total : off;
      if (j == 0 || error < least) {
        least = error;
        level = j;
      }
    }
    out[k] = (double)level / (bins - 1) * args[0];
  }
})

namespace impipe::ops {
namespace {

MeasureValue counts_of(PlanBuilder& plan, const ImageValue& image, int bins) {
  const bool codes = image.type.cls == PixelClass::uint8 && image.type.white == 255 && bins == 256;
  return plan.histogram({.rule = codes ? BinRule::codes : BinRule::centred, .bins = bins}, image);
}

ImageValue lower_imhistmatch(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const std::string& name = call.value("reference").operands.front();
  const ImageValue reference = plan.operand(call, name);
  if (reference.type.white == 0) {
    call.fail("reference", ":" + name + " has no white to scale by; use mat2gray first");
  }
  if (reference.type.channels != image.type.channels) {
    call.fail("reference", "the image has " + std::to_string(image.type.channels) + " channels, :" +
                               name + " has " + std::to_string(reference.type.channels));
  }
  const double white = image.type.white;
  const MeasureValue levels =
      plan.scalar(bodies::matched_levels,
                  {counts_of(plan, image, 256),
                   counts_of(plan, reference, static_cast<int>(call.number("bins")))},
                  {white}, 256, image.type.channels);
  return plan.point(Point{.body = &bodies::bin_of_256, .in_double = true, .in_table = true},
                    {image}, {white, Arg::per_channel(levels, 0)}, like(image));
}

const RegisterOperator imhistmatch_operator{{
    .name = "imhistmatch",
    .help = "change the values so that their histogram is near another image's",
    .category = "statistics",
    .parameters = {{.name = "reference",
                    .help = "the other image (:name), with as many channels; of any size and class",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "bins",
                    .letter = 'n',
                    .help = "of the reference's histogram: the most levels of the result",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 2,
                    .high = 65536,
                    .fallback = "64"}},
    .classes = no_logical,
    .details =
        "For each channel: nn = imhist(A,256), hg = imhist(reference,bins), cumulated, hg scaled\n"
        "to as many pixels; bin k goes to the first level j with the least (cd_j - cum_k) + tol,\n"
        "tol = nn_k / 2 (0 for the first and the last bin), errors below 0 left out; j / (bins - "
        "1)\n"
        "times white. Measured and looked up on the device.",
    .example = "as a | imgaussfilt 8 | imhistmatch :a",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-7 of white",
    .matlab = "imhistmatch(A,ref,n) (histeq(A,hgram))",
    .lower = lower_imhistmatch,
}};

}  // namespace
}  // namespace impipe::ops
