// Point, permute and window nodes as text.
#include <algorithm>
#include <bit>
#include <cmath>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/program/quotients.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/body_tree.hpp"
#include "core/expression.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

// The entry of look-up node n's table for code x, as a function; returns its name.
std::string write_entry(Builder& builder, int n) {
  const std::string name = Builder::name({false, n}) + "_entry";
  if (builder.has_function(name)) return name;
  const Node& node = builder.node(n);
  const Operand& table = node.images[1];
  if (!table.external) builder.fail("a table is made inside it");
  const std::string entry = builder.value(table, "x % row", "x / row");
  builder.function(
      name, pixel_function(type_of(node.cls), name,
                           declared("const int", "row", builder.width(table)) + returned(entry)));
  return name;
}

// A body's text where white is 1.
std::string for_unit_white(const PointBody& body) {
  const std::optional<BodyTrees> trees = whole_body(body.text);
  if (!trees) return body.text;
  const PartText quotient = [&](const BodyTree& part) {
    return is_over_white(part) ? "(" + tree_text(part.parts[0], quotient) + ")" : "";
  };
  return body_text(*trees, quotient);
}

// The text of a body in double that takes quotients of codes by white with its reciprocal, a
// parameter more; nothing where there are none.
std::optional<std::string> for_codes_over_white(const Builder& builder, const Node& node,
                                                const PointBody& body) {
  const std::optional<BodyTrees> trees = whole_body(body.text);
  if (!trees) return std::nullopt;
  bool found = false;
  const std::string text = body_text(*trees, [&](const BodyTree& part) -> std::string {
    if (!is_code_over_white(builder.context(), node, part)) return "";
    found = true;
    return "code_over_white(" + part.parts[0].name + ", white, white_reciprocal)";
  });
  return found ? std::optional(text) : std::nullopt;
}

// A point's function and what it is called with.
struct PointCall {
  std::string name, text;
  std::vector<std::string> parameters, arguments;
};

// real: the type that node n is computed in; pixel: text of an image's pixel in it.
PointCall call_of_expression(Builder& builder, int n, const std::string& real,
                             const PixelText& pixel) {
  const Node& node = builder.node(n);
  const Expression& expression = *std::get<Point>(node.primitive).expression;
  PointCall call{Builder::name({false, n}) + "_expression", "", {}, {}};
  const auto cast = [&](const std::string& text) { return "(" + real + ")" + text; };
  std::size_t next = 0;
  for (const std::string& v : expression.variables()) {
    const int argument = argument_index(v);
    call.parameters.push_back(variable_name(v));
    if (argument >= 0) {
      call.arguments.push_back(builder.argument(n, argument, variable_name(v), real));
      continue;
    }
    call.arguments.push_back(v == "col"      ? cast("x")
                             : v == "row"    ? cast("y")
                             : v == "width"  ? cast(builder.width({false, n}))
                             : v == "height" ? cast(builder.height({false, n}))
                             : v == "white"  ? builder.white(node.images[0], real)
                                             : pixel(node.images[next++]));
  }
  call.text = "return " + expression_body(expression, call.parameters) + ";";
  return call;
}

// The reciprocal of argument `white` of node n, rounded once.
std::string reciprocal_of_white(Builder& builder, int n, int white, const std::string& real) {
  const bool single = real == "float";
  return builder.parameter(type_of_real(real), Builder::name({false, n}) + "_white_reciprocal",
                           [n, white, single](const LaunchContext& at, int) {
                             const double value = at.argument(n, white);
                             return single ? double{1.0f / static_cast<float>(value)} : 1 / value;
                           });
}

PointCall call_of_body(Builder& builder, int n, const std::string& real, const PixelText& pixel) {
  const Node& node = builder.node(n);
  const PointBody& body = *std::get<Point>(node.primitive).body;
  const std::string name = Builder::name({false, n});
  PointCall call{name + "_" + body.name, body.text, {}, {}};
  for (const std::string& input : names_in(body.input_names)) {
    const Operand& image = node.images[call.parameters.size()];
    call.parameters.push_back(input);
    call.arguments.push_back(pixel(image));
  }
  int index = 0;
  for (const std::string& label : names_in(body.parameter_names)) {
    call.parameters.push_back(label);
    call.arguments.push_back(builder.argument(n, index++, label, real));
  }
  const auto white = known_white(node, body);
  if (real == "float") {
    const CodeQuotients quotients = quotients_of_codes(builder.context(), node);
    if (!quotients.found || !quotients.all) return call;
    call.text = quotients.text;
    if (!quotients.by_white) return call;
  } else {
    const auto by_reciprocal = white ? for_codes_over_white(builder, node, body) : std::nullopt;
    if (!by_reciprocal) return call;
    call.text = *by_reciprocal;
  }
  call.parameters.emplace_back("white_reciprocal");
  call.arguments.push_back(reciprocal_of_white(builder, n, static_cast<int>(white.value()), real));
  return call;
}

// Weights by which a mean of codes is what the body of node n computes in double, but for its
// rounding; nothing for other nodes.
std::vector<double> weights_of_codes(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto& point = std::get<Point>(node.primitive);
  const bool codes = node.cls == PixelClass::uint8 || node.cls == PixelClass::uint16;
  if (point.body == nullptr || point.in_table || !codes || node.images.size() != 3 ||
      names_in(point.body->parameter_names) != std::vector<std::string>{"white"} ||
      !known_white(node, *point.body) || traits_of(*point.body).differences) {
    return {};
  }
  for (const Operand& image : node.images) {
    if (of.cls(image) != node.cls) return {};
  }
  // They do not depend on white.
  const double white = class_max(node.cls);
  std::optional<std::vector<double>> sum = linear_weights(*point.body, {&white, 1});
  if (!sum || sum->back() != 0) return {};
  sum->pop_back();
  double all = 0;
  for (const double weight : *sum) {
    if (weight < 0) return {};
    all += weight;
  }
  return all <= 1 + 1e-12 ? *sum : std::vector<double>{};
}

// The pixel of node n by such weights, from the text of its images' codes.
std::string mean_of_codes(Builder& builder, int n, const std::vector<double>& weights,
                          const PixelText& pixel_text) {
  const Node& node = builder.node(n);
  const PointBody& body = *std::get<Point>(node.primitive).body;
  const bool bytes = node.cls == PixelClass::uint8;
  const int bits = bytes ? 24 : 32;
  const std::string suffix = bytes ? "u" : "ul", name = Builder::name({false, n}) + "_mean";
  std::string codes, weighted;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    codes += comma + "(uint)" + pixel_text(node.images[i]);
    weighted += (i == 0 ? "" : " + ") + std::to_string(std::llround(std::ldexp(weights[i], bits))) +
                suffix + " * c" + std::to_string(i);
  }
  std::size_t image = 0;
  const PointCall call = call_of_body(builder, n, "double", [&](const Operand&) {
    return "DOUBLE_OF_CODE(c" + std::to_string(image++) + ")";
  });
  builder.body_once(call.name,
                    after_line(body_function(call.name, "double", "", call.parameters, call.text)));
  const auto inputs = static_cast<std::ptrdiff_t>(weights.size());
  std::string parameters, arguments, exact;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    exact += (i == 0 ? "" : ", ") + (i < weights.size() ? call.arguments[i] : call.parameters[i]);
    if (i < weights.size()) continue;
    parameters += ", const double " + call.parameters[i];
    arguments += ", " + call.arguments[i];
  }
  const auto white = static_cast<int>(known_white(node, body).value());
  // A white so small or large that the body's numbers leave the range.
  const std::string always = builder.integer(name + "_always", [n, white](const LaunchContext& at) {
    const double value = at.argument(n, white);
    return value >= 1e-100 && value <= 1e100 ? 0 : 1;
  });
  const double near = static_cast<double>(inputs) * 0.5 * class_max(node.cls) + 16;
  const auto whole = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  builder.body_once(
      name, filled(part(kernels::mean, "mean"),
                   {{"pixel", type_of(node.cls)},
                    {"mean", name},
                    {"sum", bytes ? "uint" : "ulong"},
                    {"bits", std::to_string(bits)},
                    {"weighted", weighted},
                    {"half", whole(std::ldexp(0.5, bits)) + suffix},
                    {"fraction", bytes ? "0xffffffu" : "0xffffffffu"},
                    {"near", whole(near) + "u"},
                    {"twice_near", whole(2 * near) + "u"},
                    {"parameters", parameters},
                    {"exact", converted(node.cls, "double", call.name + "(" + exact + ")")}}));
  return name + "(" + codes + ", " + always + arguments + ")";
}

// The body with its quotients by reciprocals; of floats with a white that is taken to be 1.
void take_reciprocals(Builder& builder, const Node& node, const PointBody& body,
                      const std::string& real, PointCall& call, Quotients& quotients) {
  call.name += "_quick";
  quotients.found = true;
  const auto first = call.arguments.begin() + body.inputs;
  if (real == "double") {
    quotients.moderate.insert(first, call.arguments.end());
  } else if (const auto white = known_white(node, body); white && !quotients.any_white) {
    std::string& given = first[static_cast<std::ptrdiff_t>(*white)];
    quotients.units.insert(given);
    given = "1.0f";
    call.name += "_unit";
    call.text = for_unit_white(body);
    if (call.text.find("over(") == std::string::npos) {
      builder.body_once(call.name,
                        after_line(body_function(call.name, real, "", call.parameters, call.text)));
      return;
    }
  }
  call.arguments.insert(call.arguments.begin(), "&quotients");
  builder.body_once(
      call.name,
      after_line(
          undefined("over") + defined("over(a, b)", "quick_over_" + real + "(met, a, b)") +
          body_function(call.name, real, "struct Quotients* met", call.parameters, call.text) +
          undefined("over") + defined("over(a, b)", "WORD(over_)(a, b)")));
}

// `value` as a code of at most `last`.
std::string code_up_to(std::int64_t last, const std::string& real, const std::string& value) {
  const std::string largest = "(" + real + ")" + std::to_string(last);
  if (real == "float") return "to_code_float(" + value + ", " + largest + ")";
  // What orders doubles first: of a whole number below 2^20 there is nothing else.
  const auto high = std::bit_cast<std::uint64_t>(static_cast<double>(last)) >> 32;
  return "CODE_OF_DOUBLE(" + value + ", " + largest + ", " + std::to_string(high) + ")";
}

}  // namespace

std::string variable_name(const std::string& variable) {
  const int argument = argument_index(variable);
  if (argument >= 0) return "argument_" + std::to_string(argument);
  std::string name = "v_" + variable;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string converted(PixelClass cls, const std::string& real, const std::string& value) {
  return std::string(name_of(cls)) + "_from_" + real + "(" + value + ")";
}

namespace {

// The value by the node's body or expression.
std::string computed_value(Builder& builder, int n, const PixelText& pixel_text,
                           Quotients* quotients) {
  const Node& node = builder.node(n);
  const Point& point = std::get<Point>(node.primitive);
  const std::string real = in_double(builder.context(), n) ? "double" : "float";
  const PixelText pixel = [&](const Operand& image) {
    const std::string text = pixel_text(image);
    return real == "double" && is_integer(builder.cls(image)) ? "DOUBLE_OF_CODE(" + text + ")"
                                                              : "(" + real + ")" + text;
  };
  PointCall call = point.expression != nullptr ? call_of_expression(builder, n, real, pixel)
                                               : call_of_body(builder, n, real, pixel);
  if (quotients != nullptr && divides_by_uniform(builder.context(), n)) {
    take_reciprocals(builder, node, *point.body, real, call, *quotients);
  } else {
    builder.body_once(call.name,
                      after_line(body_function(call.name, real, "", call.parameters, call.text)));
  }
  const std::string value = call.name + "(" + joined(call.arguments) + ")";
  if (!point.in_table) return converted(node.cls, real, value);
  const Argument& first = node.arguments.back();
  const Operand& table = node.measures.at(static_cast<std::size_t>(first.measure));
  const std::string from = std::to_string(first.element);
  const std::int64_t last = builder.values(table) - first.element - 1;
  const std::string place = "(int)" + code_up_to(last, real, value);
  return converted(node.cls, real,
                   "(" + real + ")" + builder.measure(table) + "[" + from + " + " + place + "]");
}

// The function (ARGS, code) of a curve's codes, which a kernel computes before others; its name.
std::string write_curve(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const std::string own = Builder::name({false, n}), name = own + "_of_code";
  if (builder.has_function(name)) return name;
  const bool same = is_same_for_planes(builder.context(), n);
  const LaunchNumber bytes = [cls = node.cls](const LaunchContext&) {
    return std::int64_t{bytes_of(cls)} * codes_of_16_bits;
  };
  const std::string table = same ? builder.scratch_of_all(own + "_curve", type_of(node.cls), bytes)
                                 : builder.scratch(own + "_curve", type_of(node.cls), bytes);
  constexpr int items = 128;
  const std::string value = computed_value(
      builder, n, [](const Operand&) { return std::string("code"); }, nullptr);
  const Substitutions words{{{"items", [] { return std::to_string(items); }},
                             {"same", [&] { return std::string(same ? "1" : "0"); }},
                             {"value", [&] { return value; }},
                             {"name", [&] { return name; }},
                             {"pixel", [&] { return type_of(node.cls); }},
                             {"made", [&] { return table; }},
                             {"table", [&] { return table; }}}};
  builder.function(name, words.filled(part(kernels::code_curve, "entry")));
  builder.kernel_before(own + "_curve_of_codes", items,
                        words.filled(part(kernels::code_curve, "curve")),
                        launch_groups(codes_of_16_bits / items, items));
  return name;
}

}  // namespace

std::string point_value(Builder& builder, int n, const PixelText& pixel_text,
                        Quotients* quotients) {
  const Node& node = builder.node(n);
  const Point& point = std::get<Point>(node.primitive);
  if (point.lookup) {
    const std::string entry = write_entry(builder, n);
    return builder.call(entry, "(int)" + pixel_text(node.images[0]), "0");
  }
  if (is_curve_of_codes(builder.context(), n)) {
    return write_curve(builder, n) + "(ARGS, (uint)" + pixel_text(node.images[0]) + ")";
  }
  const std::vector<double> mean = weights_of_codes(builder.context(), n);
  if (!mean.empty()) return mean_of_codes(builder, n, mean, pixel_text);
  return computed_value(builder, n, pixel_text, quotients);
}

std::optional<RampText> ramp_text(Builder& builder, int n) {
  const std::optional<Ramp> ramp = ramp_of(builder.context(), n);
  if (!ramp) return std::nullopt;
  const Node& node = builder.node(n);
  const PointCall call =
      call_of_body(builder, n, "double", [](const Operand&) { return std::string("code"); });
  std::string parameters, names, arguments;
  for (std::size_t i = 1; i < call.parameters.size(); ++i) {
    // Not by their own names, which may be those of the line's.
    parameters += ", const double p" + number(static_cast<std::int64_t>(i));
    names += ", p" + number(static_cast<std::int64_t>(i));
    arguments += ", " + call.arguments[i];
  }
  const auto body = [&](const std::string& suffix, const std::string& text) {
    std::string name = call.name + suffix;
    builder.body_once(name, after_line(body_function(name, "double", "", call.parameters, text)));
    return name;
  };
  const std::string own = Builder::name({false, n});
  const std::string value = body("", call.text), line = body("_line", ramp->line),
                    bound = body("_bound", ramp->bound), ordered = body("_ordered", ramp->ordered);
  builder.body_once("ramp_" + own,
                    filled(part(kernels::ramp, "ramp"),
                           {{"own", own},
                            {"pixel", type_of(node.cls)},
                            {"parameters", parameters},
                            {"arguments", names},
                            {"converted", std::string(name_of(node.cls)) + "_from_double"},
                            {"line", line},
                            {"value", value},
                            {"bound", bound},
                            {"ordered", ordered}}));
  const std::string numbers = "line_" + own;
  return RampText{
      declared("const struct Ramp_" + own, numbers, "ramp_" + own + "(0" + arguments + ")"),
      [=, pixel = type_of(node.cls), unroll = builder.unroll()](const std::string& name, int count,
                                                                const std::string& codes) {
        return filled(part(kernels::ramp, "ramp_row"), {{"pixel", pixel},
                                                        {"name", name},
                                                        {"count", number(count)},
                                                        {"codes", codes},
                                                        {"unroll", unroll},
                                                        {"own", own},
                                                        {"numbers", numbers},
                                                        {"arguments", arguments}});
      }};
}

void write_point(Builder& builder, int n, const std::string& name) {
  const Node& node = builder.node(n);
  const std::string value =
      point_value(builder, n, [&](const Operand& image) { return builder.value(image, "x", "y"); });
  builder.function(name, pixel_function(type_of(node.cls), name, returned(value)));
}

void write_permute(Builder& builder, int n, const std::string& name) {
  const Node& node = builder.node(n);
  const Permute& permute = std::get<Permute>(node.primitive);
  const Operand self{false, n};
  std::string x = permute.flip_x ? builder.width(self) + " - 1 - x" : "x";
  std::string y = permute.flip_y ? builder.height(self) + " - 1 - y" : "y";
  if (permute.transpose) std::swap(x, y);
  const std::string value = builder.value(node.images[0], x, y);
  builder.function(name, pixel_function(type_of(node.cls), name, returned(value)));
}

std::string window_parameter(Builder& builder, int n, bool x) {
  const Operand image = builder.node(n).images[0];
  return builder.integer(Builder::name({false, n}) + (x ? "_left" : "_top"),
                         [n, image, x](const LaunchContext& at) {
                           const WindowPlace place = window_place(at.node(n), at.size_of(image));
                           return x ? place.left : place.top;
                         });
}

void write_window(Builder& builder, int n, const std::string& name) {
  const Node& node = builder.node(n);
  const Operand image = node.images[0];
  const Border border = std::get<Window>(node.primitive).border;
  const std::string x = "x + " + window_parameter(builder, n, true);
  const std::string y = "y + " + window_parameter(builder, n, false);
  if (border == Border::absent) {  // lies inside
    builder.function(name,
                     pixel_function(type_of(node.cls), name, returned(builder.value(image, x, y))));
    return;
  }
  const std::string at = name + "_at";
  const std::string outside = converted(node.cls, "float", outside_value(builder, n, border));
  write_border(builder, at, type_of(node.cls), builder.value(image, "x", "y"), border, outside,
               builder.width(image), builder.height(image));
  builder.function(name, pixel_function(type_of(node.cls), name, returned(builder.call(at, x, y))));
}

}  // namespace impipe::jit
