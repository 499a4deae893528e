// Columns and rows as images, by an expression.
#include "ops/images.hpp"

#include <string>
#include <vector>

#include "core/expression.hpp"

namespace impipe::ops {

ImageValue place_image(PlanBuilder& plan, const ImageValue& image, std::string_view name) {
  const std::vector<std::string> names{std::string(name)};
  const Expression place = parse_expression(name, {.known = names}).with_variables(names);
  return plan.point(Point{.expression = std::make_shared<const Expression>(place)}, {image}, {},
                    {.cls = PixelClass::single, .white = 0});
}

}  // namespace impipe::ops
