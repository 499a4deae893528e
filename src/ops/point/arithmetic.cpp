// imadd, imsubtract, immultiply, imdivide, imabsdiff: arithmetic with an image or a number.
#include "ops/images.hpp"

IMPIPE_POINT_BODY(imadd, (x, y), (), { return x + y; })
IMPIPE_POINT_BODY(imadd_number, (x), (y), { return x + y; })
IMPIPE_POINT_BODY(imsubtract, (x, y), (), { return x - y; })
IMPIPE_POINT_BODY(imsubtract_number, (x), (y), { return x - y; })
IMPIPE_POINT_BODY(immultiply, (x, y), (), { return x * y; })
IMPIPE_POINT_BODY(immultiply_number, (x), (y), { return x * y; })
IMPIPE_POINT_BODY(imdivide, (x, y), (), { return x / y; })
IMPIPE_POINT_BODY(imdivide_number, (x), (y), { return over(x, y); })
IMPIPE_POINT_BODY(imabsdiff, (x, y), (), { return abs(x - y); })
IMPIPE_POINT_BODY(imabsdiff_number, (x), (y), { return abs(x - y); })

namespace impipe::ops {
namespace {

ImageValue combine(const Call& call, PlanBuilder& plan, const PointBody& with_image,
                   const PointBody& with_number, bool masks = false) {
  const ImageValue image = plan.current();
  const ParameterValue& other = call.value("with");
  Result result = like(image);
  std::vector<ImageValue> images{image};
  if (!other.operands.empty()) {
    images.push_back(point_operand(call, plan, other.operands.front(), masks));
    const ImageValue& operand = images.back();
    // A mask and an image make an image, whichever of them comes first.
    if (image.type.cls == PixelClass::logical) result = like(operand);
    result.channels = max_channels(images);
  }
  if (call.has("class")) result.cls = class_named(call.word("class"));
  // An integer result is rounded from double, whatever the other image's class.
  Point point{.body = &with_number,
              .in_double = is_integer(image.type.cls) || is_integer(result.cls)};
  if (other.operands.empty()) return plan.point(point, images, {other.numbers.front()}, result);
  point.body = &with_image;
  return plan.point(point, images, {}, result);
}

template <const PointBody& with_image, const PointBody& with_number>
ImageValue combined(const Call& call, PlanBuilder& plan) {
  return combine(call, plan, with_image, with_number);
}

Parameter with(std::string_view help) {
  return {.name = "with",
          .help = help,
          .numbers = {.max_count = 1},
          .takes = Takes::operand,
          .required = true};
}

const Parameter result_class{.name = "class",
                             .help = "class of the result; the image's when not given",
                             .words = {"uint8", "uint16", "single"}};

constexpr std::string_view arithmetic_details =
    "In the image's own units. Integer classes: in double, rounded half away from zero, saturated\n"
    "(0/0 is 0); single: in float32. The white stays when class= makes it another class.\n"
    "A gray image beside a coloured one counts for each of its channels.";
constexpr std::string_view multiply_details =
    "In the image's own units. Integer classes: in double, rounded half away from zero, "
    "saturated;\n"
    "single: in float32. The white stays when class= makes it another class.\n"
    "A gray image beside a coloured one counts for each of its channels. One of the two may be\n"
    "logical, a mask of 0 and 1: the result has the other's class. Of two masks it is their\n"
    "intersection, a logical image; class=single makes numbers of it.";

const RegisterOperator imadd_operator{{
    .name = "imadd",
    .help = "add an image or a number",
    .parameters = {with("the image (:name) or number to add"), result_class},
    .classes = no_logical,
    .details = arithmetic_details,
    .example = "imadd 20",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imadd(A,B) (same)",
    .lower = combined<bodies::imadd, bodies::imadd_number>,
}};

const RegisterOperator imsubtract_operator{{
    .name = "imsubtract",
    .help = "subtract an image or a number",
    .parameters = {with("the image (:name) or number to subtract"), result_class},
    .classes = no_logical,
    .details = arithmetic_details,
    .example = "as a | imdilate disk,3 | imsubtract :a",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imsubtract(A,B) (same)",
    .lower = combined<bodies::imsubtract, bodies::imsubtract_number>,
}};

const RegisterOperator immultiply_operator{{
    .name = "immultiply",
    .help = "multiply by an image or a number",
    .parameters = {with("the image (:name) or number to multiply by"), result_class},
    .details = multiply_details,
    .example = "immultiply 1.5",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "immultiply(A,B) (of two logical images it is double there)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          if (plan.current().type.cls == PixelClass::logical &&
              call.value("with").operands.empty()) {
            call.fail("with", "a logical image is multiplied by an image only");
          }
          return combine(call, plan, bodies::immultiply, bodies::immultiply_number, true);
        },
}};

const RegisterOperator imdivide_operator{{
    .name = "imdivide",
    .help = "divide by an image or a number",
    .parameters = {with("the image (:name) or number to divide by"), result_class},
    .classes = no_logical,
    .details = arithmetic_details,
    .example = "imdivide 2",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imdivide(A,B) (same)",
    .lower = combined<bodies::imdivide, bodies::imdivide_number>,
}};

const RegisterOperator imabsdiff_operator{{
    .name = "imabsdiff",
    .help = "absolute difference from an image or a number",
    .parameters = {with("the image (:name) or number to compare with"), result_class},
    .classes = no_logical,
    .details = arithmetic_details,
    .example = "as a | medfilt2 | imabsdiff :a",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imabsdiff(A,B) (same)",
    .lower = combined<bodies::imabsdiff, bodies::imabsdiff_number>,
}};

}  // namespace
}  // namespace impipe::ops
