// jointhist: how many pixels have which pair of values in two images.
#include "core/pair_code.hpp"
#include "ops/images.hpp"

// codes: the number of codes of the image's class.
IMPIPE_POINT_BODY(jointhist_bin, (x), (bins, codes), { return floor(x * bins / codes); })

namespace impipe::ops {
namespace {

ImageValue binned(PlanBuilder& plan, const ImageValue& image, int bins) {
  const double codes = class_max(image.type.cls) + 1;
  if (codes == bins) return image;
  const PixelClass cls = bins <= 256 ? PixelClass::uint8 : PixelClass::uint16;
  return plan.point(bodies::jointhist_bin, {image}, {static_cast<double>(bins), codes},
                    {.cls = cls, .white = class_max(cls)});
}

ImageValue lower_jointhist(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const std::string& name = call.value("image").operands.front();
  const ImageValue other = matching_operand(call, plan, name);
  if (!is_integer(other.type.cls)) {
    call.fail("image", "it is not defined for single images, and :" + name + " is one");
  }
  const int bins = static_cast<int>(call.number("bins"));
  // Up to 256 bins the place of a pair is a uint16, which is counted fastest.
  const PixelClass cls = bins <= 256 ? PixelClass::uint16 : PixelClass::single;
  const ImageValue places =
      plan.point(pair_code_body(), {binned(plan, image, bins), binned(plan, other, bins)},
                 {static_cast<double>(bins)}, {.cls = cls, .white = class_max(cls)});
  plan.report_table("jointhist",
                    plan.histogram({.rule = BinRule::codes, .bins = bins * bins}, places), bins);
  return image;
}

const RegisterOperator jointhist_operator{{
    .name = "jointhist",
    .help = "joint histogram of two images, n x n counts (-o NAME.npy saves them)",
    .parameters = {{.name = "image",
                    .help = "the other image, of equal size, channels and white",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "bins",
                    .letter = 'n',
                    .help = "number of bins of each image",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 4096},
                    .fallback = "256"}},
    .classes = {.single = false},
    .details =
        "H(i,j) is the number of pixels with bin i (row) in the current image and bin j (column) "
        "in\n"
        "the other, bin = floor(v n / (the class's largest value + 1)). Each channel has its own.\n"
        "The counts are columns of the report, row by row, more than 4,096 only with --json;\n"
        "-o '{stem}.npy' saves them.",
    .example = "as a | imgaussfilt 2 | jointhist :a 64",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out, "Inf is counted in the bin at its end"},
    .matlab = "histcounts2 of the values with n equal bins each (a definition of our own)",
    .lower = lower_jointhist,
}};

}  // namespace
}  // namespace impipe::ops
