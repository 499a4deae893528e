// imhistmatch: an image whose histogram is near another image's.
#include "ops/images.hpp"

IMPIPE_POINT_BODY(bin_of_256, (x), (white), { return over(x, white) * real(255); })

// in: 256 counts of the image, then those of the reference; args: white. out[k]: the level whose
// part of the reference is nearest to the part of the image up to bin k, half of the bin less
// allowed; a part that ends more than 2^-26 of the image before it does not count. What the
// reference has up to a bin only grows, and so does what is asked for from one k to the next: the
// first bin that reaches it is the nearest, and each work-item finds those k that its bins reach.
IMPIPE_GROUP_BODY(matched_levels, {
  const int bins = (int)count[1];
  const int part = (bins + items - 1) / items;
  const int first = item * part < bins ? item * part : bins;
  const int end = first + part < bins ? first + part : bins;
  double own = 0;
  double own_wanted = 0;
  for (int i = item; i < 256; i += items) own += in[i];
  for (int j = first; j < end; ++j) own_wanted += in[256 + j];
  double total;
  double wanted;
  sum_before(own, &total);
  double below = sum_before(own_wanted, &wanted);
  if (first < end) {
    const double least = -total / 67108864.0;
    const double before = below * total / wanted;
    int at = first;
    below += in[256 + at];
    double reached = below * total / wanted;
    double cumulated = 0;
    for (int k = 0; k < 256; ++k) {
      cumulated += in[k];
      const double allowed = k > 0 && k < 255 ? in[k] / 2 : 0.0;
      if (first > 0 && !((before - cumulated) + allowed < least)) continue;
      double off = (reached - cumulated) + allowed;
      while (off < least && at + 1 < end) {
        at += 1;
        below += in[256 + at];
        reached = below * total / wanted;
        off = (reached - cumulated) + allowed;
      }
      if (off < least && end < bins) continue;
      const int level = off < least || !(off < total) ? 0 : at;
      out[k] = (double)level / (bins - 1) * args[0];
    }
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
    .parameters = {{.name = "reference",
                    .help = "the other image (:name), with as many channels; of any size and class",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "bins",
                    .letter = 'n',
                    .help = "of the reference's histogram: the most levels of the result",
                    .numbers = {.max_count = 1, .integer = true, .low = 2, .high = 65536},
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
    .not_finite =
        {NotFinite::Rule::other,
         "NaN is not counted and gets the level of 0; Inf is clamped to the image's range"},
    .matlab = "imhistmatch(A,ref,n) (histeq(A,hgram))",
    .lower = lower_imhistmatch,
}};

}  // namespace
}  // namespace impipe::ops
