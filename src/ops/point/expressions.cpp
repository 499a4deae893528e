// map, stencil, reduce and histogram: operators whose body the user writes.
#include <algorithm>
#include <cmath>

#include "core/expression.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

const std::vector<std::string> channels{"x", "r", "g", "b"};
const std::vector<std::string> places{"col", "row", "width", "height", "white"};

Expression expression_of(const Call& call, std::vector<std::string> names, bool others, bool taps) {
  const ParameterValue& value = call.value("expr");
  return parse_expression(value.text, {.known = std::move(names), .others = others, .taps = taps},
                          {.text = call.text(), .span = value.span, .origin = call.origin()});
}

std::shared_ptr<const Expression> shared(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result result_of(const Call& call, const ImageValue& image) {
  Result result = like(image);
  if (call.has("class")) result.cls = class_named(call.word("class"));
  if (result.cls == PixelClass::logical) result.white = 1;
  return result;
}

// The expression's variables are the images in order, then places. `x` stands for the current image
// in each channel; r, g, b are channels of the same image.
ImageValue lower_map(const Call& call, PlanBuilder& plan) {
  const Expression expression =
      expression_of(call, {std::begin(pixel_names), std::end(pixel_names)}, true, false);
  const bool mixes = expression.uses("r") || expression.uses("g") || expression.uses("b");
  std::vector<ImageValue> images{plan.current()};
  std::vector<std::string> variables{"x"};
  if (mixes) {
    if (plan.current().type.channels != 1) need_colour(call, plan.current());
    variables = channels;
  }
  for (const std::string& name : call.value("expr").operands) {
    images.push_back(point_operand(call, plan, name, true));
    variables.push_back(name);
  }
  for (const std::string& name : expression.variables()) {
    if (is_one_of(name, places)) variables.push_back(name);
  }
  Result result = result_of(call, plan.current());
  result.channels = max_channels(images);
  // Made of r, g and b alone it has one value a pixel.
  if (mixes && !expression.uses("x") && images.size() == 1) result.channels = 1;
  return plan.point(
      Point{.expression = shared(expression.with_variables(variables)), .mixes_channels = mixes},
      images, {}, result);
}

// The cells around the output pixel that the expression reads.
Mask cells_of(const Expression& expression) {
  const int rx = expression.reach_x(), ry = expression.reach_y();
  Mask mask{
      .width = 2 * rx + 1,
      .height = 2 * ry + 1,
      .origin_x = rx,
      .origin_y = ry,
      .cells = std::vector<std::uint8_t>(static_cast<std::size_t>(2 * rx + 1) * (2 * ry + 1), 0)};
  for (const Tap& tap : expression.taps()) {
    mask.cells[(tap.dy + ry) * mask.width + tap.dx + rx] = 1;
  }
  if (expression.uses("x")) mask.cells[ry * mask.width + rx] = 1;
  return mask;
}

ImageValue lower_stencil(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  std::vector<std::string> known{"x"};
  known.insert(known.end(), places.begin(), places.end());
  const Expression expression = expression_of(call, known, false, true);
  if (call.has("radius")) {
    const int reach = std::max(expression.reach_x(), expression.reach_y());
    if (reach > call.number("radius")) {
      call.fail("expr", "the expression reads " + std::to_string(reach) +
                            " pixels away, the radius is " +
                            std::to_string(static_cast<int>(call.number("radius"))));
    }
  }
  const BorderArgument outside = border_argument(call, "boundary", image.type.cls);
  std::vector<Arg> args;
  if (outside.border == Border::constant) args.push_back(outside.value);
  const Mask cells = cells_of(expression);
  return plan.stencil({.expression = shared(expression), .taps = cells, .border = outside.border},
                      image, args, result_of(call, image));
}

ImageValue lower_reduce(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Expression expression = expression_of(call, {"acc", "x"}, false, false);
  plan.report("reduce", plan.reduce({.kind = ReduceKind::user,
                                     .expression = shared(expression.with_variables({"acc", "x"}))},
                                    image, {call.number("init")}));
  return image;
}

ImageValue lower_histogram(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Expression expression = expression_of(call, {"x", "white"}, false, false);
  plan.report("histogram",
              plan.histogram({.rule = BinRule::user,
                              .bins = static_cast<int>(call.number("bins")),
                              .expression = shared(expression.with_variables({"x", "white"}))},
                             image));
  return image;
}

const Parameter expr{.name = "expr",
                     .help = "the expression, in quotes",
                     .takes = Takes::expression,
                     .required = true};
const Parameter result_class{.name = "class",
                             .help = "class of the result; the image's when not given",
                             .words = {"uint8", "uint16", "single", "logical"}};

const RegisterOperator map_operator{{
    .name = "map",
    .help = "your own point operator: an expression of the pixel",
    .category = "point",
    .parameters = {{.name = "expr",
                    .help = "the expression, in quotes",
                    .takes = Takes::expression,
                    .names_images = true,
                    .required = true},
                   result_class},
    .details =
        "x is the pixel's value in each channel (raw: 0 to 255 for uint8), r g b its channels;\n"
        "col row width height white; any other name is an image, kept with `as` or given with\n"
        "--with: gray or coloured, of equal white or logical (0 and 1). An expression of r, g and "
        "b\n"
        "without x makes a one-channel image.\n"
        "Integer to integer in double, else float32; rounded and saturated to the class.\n"
        "Operators + - * / ^, comparisons (0 or 1), ! && ||, c ? a : b; functions min max clamp\n"
        "abs sqrt floor ceil round exp log sin cos tan atan2; pi.",
    .example = "map 'x > 128 ? white : x / 2'",
    .accuracy = "exact but for pow, exp, log and trigonometry on single",
    .matlab = "arrayfun(@(x) ..., A)",
    .lower = lower_map,
}};

const RegisterOperator stencil_operator{{
    .name = "stencil",
    .help = "your own neighbourhood operator: an expression of at(dx,dy)",
    .category = "filter",
    .parameters = {expr,
                   {.name = "radius",
                    .letter = 'r',
                    .help = "the farthest the expression may read, in pixels",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 0,
                    .high = largest_tap},
                   {.name = "boundary",
                    .help = "outside the image: a number, replicate, symmetric or circular",
                    .max_numbers = 1,
                    .words = {"replicate", "symmetric", "circular"},
                    .fallback = "replicate"},
                   result_class},
    .details =
        "at(dx,dy) is the pixel dx to the right and dy below, x is at(0,0); col row width height\n"
        "white. In float32, each channel; rounded and saturated to the class.\n"
        "Operators + - * / ^, comparisons (0 or 1), ! && ||, c ? a : b; functions min max clamp\n"
        "abs sqrt floor ceil round exp log sin cos tan atan2; pi.",
    .example = "stencil 'abs(at(1,0) - at(-1,0)) + abs(at(0,1) - at(0,-1))' r1",
    .accuracy = "exact but for pow, exp, log and trigonometry",
    .matlab = "nlfilter(A,[m n],fun) (zeros outside there)",
    .lower = lower_stencil,
}};

const RegisterOperator reduce_operator{{
    .name = "reduce",
    .help = "your own measurement: an expression that joins acc and x",
    .category = "statistics",
    .parameters = {expr,
                   {.name = "init",
                    .help =
                        "acc at the start; must not change a result (0 for a sum, 1 for a product)",
                    .max_numbers = 1,
                    .fallback = "0"}},
    .details =
        "acc is what was joined so far, x the next value; the order in which pixels are joined is\n"
        "not defined, and parts are joined with each other by the same expression. One number a\n"
        "channel, in double.",
    .example = "reduce 'max(acc, x)' init=0",
    .accuracy = "exact for min and max; else rounding depends on the order",
    .matlab = "a loop over A(:)",
    .lower = lower_reduce,
}};

const RegisterOperator histogram_operator{{
    .name = "histogram",
    .help = "your own histogram: an expression that gives a pixel's bin",
    .category = "statistics",
    .parameters = {expr,
                   {.name = "bins",
                    .letter = 'n',
                    .help = "number of bins",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 1,
                    .high = 65536,
                    .fallback = "64"}},
    .details =
        "The bin of a pixel is the expression of x (and white) rounded down, from 0; pixels whose\n"
        "bin is outside, or NaN, are not counted. A column of counts for each channel.",
    .example = "histogram 'x / 4' bins=64",
    .accuracy = "exact but for pow, exp, log and trigonometry",
    .matlab = "accumarray(f(A(:))+1, 1)",
    .lower = lower_histogram,
}};

}  // namespace
}  // namespace impipe::ops
