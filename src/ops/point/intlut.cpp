// intlut: a table look-up.
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

ImageValue lower_intlut(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const std::string& name = call.value("lut").operands.front();
  const ImageValue table = plan.operand(call, name);
  if (table.type.cls != image.type.cls) {
    call.fail("lut", "the table :" + name + " is " + std::string(name_of(table.type.cls)) +
                         ", the image is " + std::string(name_of(image.type.cls)) +
                         "; they must be the same");
  }
  if (table.type.channels != 1) call.fail("lut", "the table :" + name + " must have one channel");
  return plan.point(Point{.lookup = true}, {image, table}, {}, like(image));
}

const RegisterOperator intlut_operator{{
    .name = "intlut",
    .help = "replace every value by its entry in a table",
    .parameters = {{.name = "lut",
                    .help = "the table: an image of the same class with 256 (uint8) or 65536 "
                            "(uint16) values",
                    .takes = Takes::operand,
                    .required = true}},
    .classes = {.logical = false, .single = false},
    .details = "B(p) = LUT(A(p)), each channel with the same table. The table is an image of any\n"
               "shape, read in row-major order, with exactly one value a code.",
    .example = "intlut :curve",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "intlut(A,LUT) (same; there is no int16 here)",
    .lower = lower_intlut,
}};

}  // namespace
}  // namespace impipe::ops
