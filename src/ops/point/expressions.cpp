// map, stencil, reduce and histogram: operators whose body the user writes.
#include <algorithm>
#include <cmath>

#include "core/expression.hpp"
#include "core/has_v3.hpp"
#include "core/page_operation.hpp"
#include "core/row_evaluator.hpp"
#include "core/shared_pool.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

const std::vector<std::string> channel_variables{"x", "r", "g", "b"};
const std::vector<std::string> place_variables{"col", "row", "width", "height", "white"};

Expression expression_of(const Call& call, std::vector<std::string> names, bool others, bool taps) {
  const ParameterValue& value = call.value("expr");
  return parse_expression(value.text, {.known = std::move(names), .others = others, .taps = taps},
                          {.text = call.text(), .span = value.span, .origin = call.origin()});
}

std::shared_ptr<const Expression> shared(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

// The variables of an expression, and the node's arguments of those that are measured numbers.
struct Measured {
  std::vector<std::string> names;      // as they are written
  std::vector<std::string> variables;  // as the node's expression has them
  std::vector<Arg> arguments;
};

// first: the index of the first such argument. planes: channels of the result.
Measured measured_in(const Call& call, PlanBuilder& plan, const Expression& expression, int first,
                     int planes, bool mixes = false) {
  Measured out;
  std::size_t of_tables = 0;
  for (const std::string& name : expression.variables()) {
    const std::string whole = name.substr(0, name.find('.'));
    if (!plan.is_measured(whole)) continue;
    out.names.push_back(name);
    out.variables.push_back(argument_name(first + static_cast<int>(out.arguments.size())));
    out.arguments.push_back(plan.is_table(whole)
                                ? Arg(call.numbers("expr").at(of_tables++))
                                : plan.measured_argument(call, "expr", name, planes, mixes));
  }
  return out;
}

// The expression whose variables are `names`, in this order, and then the measured ones.
Expression renamed(const Expression& expression, std::vector<std::string> names,
                   const Measured& measured) {
  std::vector<std::string> written = names;
  written.insert(written.end(), measured.names.begin(), measured.names.end());
  names.insert(names.end(), measured.variables.begin(), measured.variables.end());
  return expression.with_variables(written).renamed(std::move(names));
}

std::vector<std::string> with_measured(std::vector<std::string> names, const PlanBuilder& plan) {
  for (std::string& name : plan.measured_names()) names.push_back(std::move(name));
  return names;
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

// Names with fields are numbers; those without may be images.
void check_fields(const Call& call, const PlanBuilder& plan, const Expression& expression) {
  const std::vector<std::string> known = plan.measured_names();
  for (const std::string& name : expression.variables()) {
    const std::string whole = name.substr(0, name.find('.'));
    if (!plan.is_measured(whole) && whole == name) continue;
    if (is_one_of(name, known)) continue;
    std::string there;
    for (const std::string& one : known) {
      if (one.substr(0, one.find('.')) == whole) there += (there.empty() ? "" : ", ") + one;
    }
    call.fail("expr", "there is no number '" + name + "'" +
                          (there.empty() ? "; `mean2 as m` makes one" : "; there is " + there));
  }
}

// The expression's variables are the images in order, then places. `x` stands for the current image
// in each channel; r, g, b are channels of the same image.
ImageValue lower_map(const Call& call, PlanBuilder& plan) {
  const Expression expression =
      expression_of(call, {std::begin(pixel_names), std::end(pixel_names)}, true, false);
  check_fields(call, plan, expression);
  const bool mixes = expression.uses("r") || expression.uses("g") || expression.uses("b");
  std::vector<ImageValue> images{plan.current()};
  std::vector<std::string> variables{"x"};
  if (mixes) {
    if (plan.current().type.channels != 1) need_colour(call, plan.current());
    variables = channel_variables;
  }
  for (const std::string& name : call.value("expr").operands) {
    if (plan.is_measured(name.substr(0, name.find('.')))) continue;
    images.push_back(point_operand(call, plan, name, true));
    variables.push_back(name);
  }
  for (const std::string& name : expression.variables()) {
    if (is_one_of(name, place_variables)) variables.push_back(name);
  }
  Result result = result_of(call, plan.current());
  result.channels = max_channels(images);
  // Made of r, g and b alone it has one value a pixel.
  if (mixes && !expression.uses("x") && images.size() == 1) result.channels = 1;
  const Measured measured = measured_in(call, plan, expression, 0, result.channels, mixes);
  return plan.point(Point{.expression = shared(renamed(expression, variables, measured)),
                          .mixes_channels = mixes},
                    images, measured.arguments, result);
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
  known.insert(known.end(), place_variables.begin(), place_variables.end());
  const Expression expression = expression_of(call, with_measured(known, plan), false, true);
  if (call.has("radius")) {
    const int reach = std::max(expression.reach_x(), expression.reach_y());
    if (reach > call.number("radius")) {
      call.fail("expr", "the expression reads " + std::to_string(reach) +
                            " pixels away, the radius is " +
                            std::to_string(static_cast<int>(call.number("radius"))));
    }
  }
  const BorderArgument outside = border_argument(call, "boundary", image.type.cls);
  const Measured measured = measured_in(call, plan, expression, 0, image.type.channels);
  std::vector<Arg> args = measured.arguments;
  if (outside.border == Border::constant) args.push_back(outside.value);
  const Mask cells = cells_of(expression);
  std::vector<std::string> variables;
  for (const std::string& name : expression.variables()) {
    if (!is_one_of(name, measured.names)) variables.push_back(name);
  }
  return plan.stencil({.expression = shared(renamed(expression, variables, measured)),
                       .taps = cells,
                       .border = outside.border},
                      image, args, result_of(call, image));
}

// The index of the pixel that the border rule puts at index i of a row of n; -1: a constant.
std::int64_t place_at(std::int64_t i, std::int64_t n, Border border) {
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (i >= 0 && i < n) return i;
  if (border == Border::replicate) return std::clamp<std::int64_t>(i, 0, n - 1);
  if (border == Border::circular) return modulo(i, n);
  if (border != Border::symmetric) return -1;
  const std::int64_t mirrored = modulo(i, 2 * n);
  return std::min(mirrored, 2 * n - 1 - mirrored);
}

// Joins the pixels of each window by the user's expression of acc and x.
struct WindowFold {
  std::shared_ptr<const Expression> expression;
  double init = 0;
  Size window;
  BorderArgument outside;

  void run(const Plane& from, Plane& to) const {
    const Size size = from.size();
    const std::int64_t left = (window.width - 1) / 2, up = (window.height - 1) / 2;
    std::vector<std::int64_t> columns;
    for (std::int64_t i = 0; i < size.width + window.width - 1; ++i) {
      columns.push_back(place_at(i - left, size.width, outside.border));
    }
    for_each_shared(size.height, [&](std::int64_t y) {
      RowEvaluator<double> evaluator(*expression, has_v3() ? CpuLevel::v3 : CpuLevel::baseline);
      std::vector<double> row(static_cast<std::size_t>(size.width)), framed(columns.size());
      std::vector<double> acc(row.size(), init), joined(acc);
      for (std::int64_t dy = 0; dy < window.height; ++dy) {
        const std::int64_t line = place_at(y + dy - up, size.height, outside.border);
        if (line >= 0) load_row(from, line, row.data());
        for (std::size_t i = 0; i < columns.size(); ++i) {
          const bool inside = line >= 0 && columns[i] >= 0;
          framed[i] = inside ? row[static_cast<std::size_t>(columns[i])] : outside.value;
        }
        for (std::int64_t dx = 0; dx < window.width; ++dx) {
          const double* inputs[] = {acc.data(), framed.data() + dx};
          evaluator.run(joined.data(), inputs, size.width);
          acc.swap(joined);
        }
      }
      store_row(acc.data(), to, y);
    });
  }
};

ImageValue reduce_windows(const Call& call, PlanBuilder& plan, const ImageValue& image) {
  const std::vector<double>& sides = call.numbers("window");
  const WindowFold fold{
      .expression =
          shared(expression_of(call, {"acc", "x"}, false, false).with_variables({"acc", "x"})),
      .init = call.number("init"),
      .window = {static_cast<std::int64_t>(sides.back()), static_cast<std::int64_t>(sides.front())},
      .outside = border_argument(call, "boundary", image.type.cls)};
  const auto make = [fold](std::span<const Planes> images, Planes& result) {
    for (std::size_t c = 0; c < result.size(); ++c) fold.run(images.front()[c], result[c]);
  };
  return on_host(call, plan, {image}, single_result, {.make = make});
}

ImageValue lower_reduce(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  if (call.has("window")) return reduce_windows(call, plan, image);
  if (call.given("boundary")) call.fail("boundary", "boundary goes with window");
  const Expression expression =
      expression_of(call, with_measured({"acc", "x"}, plan), false, false);
  const Measured measured = measured_in(call, plan, expression, 1, image.type.channels);
  std::vector<Arg> args{call.number("init")};
  args.insert(args.end(), measured.arguments.begin(), measured.arguments.end());
  plan.report("reduce",
              plan.reduce({.kind = ReduceKind::user,
                           .expression = shared(renamed(expression, {"acc", "x"}, measured))},
                          image, args));
  return plan.current();
}

ImageValue lower_histogram(const Call& call, PlanBuilder& plan) {
  ImageValue image = measured_image(call, plan);
  Expression expression = expression_of(call, with_measured({"x", "white"}, plan), false, false);
  const Measured measured = measured_in(call, plan, expression, 0, image.type.channels);
  if (!measured.names.empty()) {
    // Their bins first, as numbers; those beyond any bin stay so.
    image = plan.point(Point{.expression = shared(renamed(expression, {"x", "white"}, measured)),
                             .in_double = true},
                       {image}, measured.arguments, single_result);
    expression = parse_expression("x", {.known = {"x"}});
  }
  plan.report_table(
      "histogram", plan.histogram({.rule = BinRule::user,
                                   .bins = static_cast<int>(call.number("bins")),
                                   .expression = shared(expression.with_variables({"x", "white"}))},
                                  image));
  return plan.current();
}

const Parameter expr{.name = "expr",
                     .help = "the expression, in quotes",
                     .takes = Takes::expression,
                     .required = true};
const Parameter class_of_result{.name = "class",
                                .help = "class of the result; the image's when not given",
                                .words = {"uint8", "uint16", "single", "logical"}};

const RegisterOperator map_operator{{
    .name = "map",
    .help = "your own point operator: an expression of the pixel",
    .parameters = {{.name = "expr",
                    .help = "the expression, in quotes",
                    .takes = Takes::expression,
                    .names_images = true,
                    .required = true},
                   class_of_result},
    .details =
        "x is the pixel's value in each channel (raw: 0 to 255 for uint8), r g b its channels;\n"
        "col row width height white; a number that was measured before (`mean2 as m`, then m; of\n"
        "several numbers one: l.low, t.1, c.r); any other name is an image, kept with `as` or "
        "given\n"
        "with --with: gray or coloured, of equal white or logical (0 and 1). An expression of r, "
        "g\n"
        "and b without x makes a one-channel image. Levels such as graythresh's are parts of "
        "white:\n"
        "`graythresh as t`, then x > 1.2 * t * white.\n"
        "Integer to integer in double, else float32; rounded and saturated to the class.\n"
        "Operators + - * / ^, comparisons (0 or 1), ! && ||, c ? a : b; functions min max clamp\n"
        "abs sqrt floor ceil round exp log sin cos tan atan2; pi.",
    .example = "map 'x > 128 ? white : x / 2'",
    .accuracy = "exact; functions of single within 3 units in the last place",
    .not_finite = {NotFinite::Rule::other,
                   "by its formula; comparisons with NaN are false, min and max of it and a number "
                   "are their second argument; in integer and logical results NaN is 0"},
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
                    .numbers = {.max_count = 1, .integer = true, .low = 0, .high = largest_tap}},
                   {.name = "boundary",
                    .help = "outside the image: a number, replicate, symmetric or circular",
                    .numbers = {.max_count = 1},
                    .words = {"replicate", "symmetric", "circular"},
                    .fallback = "replicate"},
                   class_of_result},
    .details =
        "at(dx,dy) is the pixel dx to the right and dy below, x is at(0,0); col row width height\n"
        "white. In float32, each channel; rounded and saturated to the class.\n"
        "Operators + - * / ^, comparisons (0 or 1), ! && ||, c ? a : b; functions min max clamp\n"
        "abs sqrt floor ceil round exp log sin cos tan atan2; pi.",
    .example = "stencil 'abs(at(1,0) - at(-1,0)) + abs(at(0,1) - at(0,-1))' r1",
    .accuracy = "exact; functions within 3 units in the last place",
    .not_finite = {NotFinite::Rule::other,
                   "by its formula; comparisons with NaN are false, min and max of it and a number "
                   "are their second argument; in integer and logical results NaN is 0"},
    .matlab = "nlfilter(A,[m n],fun) (zeros outside there)",
    .lower = lower_stencil,
}};

const RegisterOperator reduce_operator{{
    .name = "reduce",
    .help = "your own measurement, of the image or of windows: an expression that joins acc and x",
    .category = "statistics",
    .parameters =
        {expr,
         {.name = "init",
          .help = "acc at the start; must not change a result (0 for a sum, 1 for a product)",
          .numbers = {.max_count = 1},
          .fallback = "0"},
         measured_image_parameter(),
         {.name = "window",
          .letter = 'w',
          .help = "rows,columns: an image instead, of what is joined around each pixel; "
                  "one number: a square",
          .numbers = {.max_count = 2, .integer = true, .low = 1, .high = largest_matrix_side}},
         {.name = "boundary",
          .help = "of windows, outside the image: a number, replicate, symmetric or "
                  "circular",
          .numbers = {.max_count = 1},
          .words = {"replicate", "symmetric", "circular"},
          .fallback = "0"}},
    .details =
        R"(acc is what was joined so far, x the next value; the order in which pixels are joined is not defined, and
parts are joined with each other by the same expression. One number a channel, in double.
With window the result is an image, single without a white: acc is init, joined with every pixel of the
window alone, whose middle is pixel floor((side - 1) / 2), in raw units and double, on the host.)",
    .example = "reduce 'max(acc, x)' init=0",
    .accuracy = "exact for min and max; else rounding depends on the order",
    .not_finite = {NotFinite::Rule::other, "by its formula"},
    .matlab = "a loop over A(:); with window colfilt(A,[m n],'sliding',fun)",
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
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 65536},
                    .fallback = "64"},
                   measured_image_parameter()},
    .details =
        "The bin of a pixel is the expression of x (and white) rounded down, from 0; pixels whose\n"
        "bin is outside, or NaN, are not counted. A column of counts for each channel.",
    .example = "histogram 'x / 4' bins=64",
    .accuracy = "exact; functions within 3 units in the last place",
    .not_finite = {NotFinite::Rule::other, "a bin that is NaN or out of range is not counted"},
    .matlab = "accumarray(f(A(:))+1, 1)",
    .lower = lower_histogram,
}};

}  // namespace
}  // namespace impipe::ops
