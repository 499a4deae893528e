// Stencil, separable and extremum nodes as text.
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/expression.hpp"
#include "core/text.hpp"

namespace impipe::jit {
namespace {

std::string shifted(const std::string& place, int by) {
  if (by == 0) return place;
  return place + (by < 0 ? " - " : " + ") + std::to_string(std::abs(by));
}

// A compiler's time grows faster than its text: a mask of more runs is a table.
constexpr int max_written_runs = 64;

std::string weighted_sum(Builder& builder, const std::string& name, const Mask& mask,
                         const std::string& weight, const std::string& at) {
  return declared("float", "sum", "0.0f") +
         for_each_cell(builder, name, mask, "sum = fma(" + weight + "[k], " + at + ", sum);");
}

std::string extremum_with_heights(Builder& builder, const std::string& name, const Mask& mask,
                                  bool largest, const std::string& heights, const std::string& at) {
  return declared("float", "sum", largest ? "-INFINITY" : "INFINITY") +
         for_each_cell(builder, name, mask,
                       "const float v = " + at + " + " + heights + "[k]; if (v " +
                           (largest ? ">" : "<") + " sum) sum = v;");
}

Size size_of_rows(const LaunchContext& at, int n, const Operand& image) {
  return {at.size_of({false, n}).width, at.size_of(image).height};
}

}  // namespace

std::string outside_value(Builder& builder, int n, Border border) {
  const Node& node = builder.node(n);
  if (border != Border::constant || node.arguments.empty()) return "0.0f";
  return builder.argument(n, static_cast<int>(node.arguments.size()) - 1, "outside", "float");
}

std::string outside_rank(Builder& builder, int n) {
  const Node& node = builder.node(n);
  if (std::get<Rank>(node.primitive).border != Border::constant || node.arguments.empty()) {
    return "0";
  }
  const int last = static_cast<int>(node.arguments.size()) - 1;
  if (node.cls == PixelClass::single) return builder.argument(n, last, "outside", "float");
  const std::string code =
      builder.parameter(ParameterType::int32, Builder::name({false, n}) + "_outside",
                        [n, last](const LaunchContext& at, int) { return at.argument(n, last); });
  return "(" + std::string(type_of(node.cls)) + ")" + code;
}

std::string weights(Builder& builder, int n, const std::string& label, int first, int count) {
  for (int i = 0; i < count; ++i) {
    const std::size_t place = static_cast<std::size_t>(first) + static_cast<std::size_t>(i);
    const Argument& argument = builder.node(n).arguments.at(place);
    if (argument.source == Argument::Source::measured) builder.fail("a weight is measured");
  }
  const std::string text = builder.array(
      ParameterType::float32, "n" + std::to_string(n) + "_" + label, count,
      [n, first](const LaunchContext& at, int i) { return at.argument(n, first + i); });
  return count == 1 && text.starts_with("params->") ? "(&" + text + ")" : text;
}

std::vector<std::string> write_stencil_function(Builder& builder, int n, const std::string& name,
                                                const std::string& first, const std::string& at,
                                                const std::string& centre) {
  const Node& node = builder.node(n);
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  std::vector<std::string> parameters, arguments;
  std::string text;
  if (stencil.body != nullptr) {
    int index = 0;
    for (const std::string& label : names_in(stencil.body->parameter_names)) {
      parameters.push_back(label);
      arguments.push_back(builder.argument(n, index++, label, "float"));
    }
    text = stencil.body->text;
  } else {
    for (const std::string& v : stencil.expression->variables()) {
      const int argument = argument_index(v);
      parameters.push_back(variable_name(v));
      if (argument >= 0) {
        arguments.push_back(builder.argument(n, argument, variable_name(v), "float"));
        continue;
      }
      arguments.push_back(v == "x"        ? centre
                          : v == "col"    ? "(float)x"
                          : v == "row"    ? "(float)y"
                          : v == "width"  ? "(float)" + builder.width(node.images[0])
                          : v == "height" ? "(float)" + builder.height(node.images[0])
                                          : builder.white(node.images[0], "float"));
    }
    text = "return " + expression_body(*stencil.expression, parameters) + ";";
  }
  builder.function(name, undefined("at") + defined("at(dx, dy)", at) +
                             body_function(name, "float", first, parameters, text));
  return arguments;
}

std::string for_each_cell(Builder& builder, const std::string& name, const Mask& mask,
                          const std::string& step) {
  if (mask.full()) {
    return filled(part(kernels::pixel, "rectangle"),
                  {{"cell_rows", number(mask.height)},
                   {"cell_columns", number(mask.width)},
                   {"first_dx", shifted("cell_x", -mask.origin_x)},
                   {"first_dy", shifted("cell_y", -mask.origin_y)},
                   {"each_loop", builder.window_loop(mask.count())},
                   {"each_cell", step}});
  }
  // Runs of set cells, row by row: dx of the first, dx after the last, dy.
  std::vector<int> runs;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width;) {
      int end = x;
      while (end < mask.width && mask.at(end, y)) ++end;
      if (end > x) {
        runs.insert(runs.end(), {x - mask.origin_x, end - mask.origin_x, y - mask.origin_y});
      }
      x = end > x ? end : x + 1;
    }
  }
  const int count = static_cast<int>(runs.size() / 3);
  if (count > max_written_runs) {
    const std::string table = builder.array(
        ParameterType::int32, name + "_runs", 3 * count,
        [runs](const LaunchContext&, int i) { return runs[static_cast<std::size_t>(i)]; });
    return filled(part(kernels::pixel, "table_of_runs"),
                  {{"runs", number(count)}, {"table", table}, {"each_cell", step}});
  }
  std::string text;
  for (std::size_t i = 0; i < runs.size(); i += 3) {
    text += filled(part(kernels::pixel, "run"), {{"dx", number(runs[i])},
                                                 {"dx_end", number(runs[i + 1])},
                                                 {"dy", number(runs[i + 2])},
                                                 {"each_loop", builder.window_loop(mask.count())},
                                                 {"each_cell", step}});
  }
  return filled(part(kernels::pixel, "runs"), {{"each_run", text}});
}

void write_border(Builder& builder, const std::string& name, const std::string& type,
                  const std::string& value, Border border, const std::string& outside,
                  const std::string& width, const std::string& height, bool wide, bool tall) {
  const bool has_value = border == Border::constant || border == Border::absent;
  std::vector<std::string> tests;
  if (wide) tests.push_back("x < 0 || x >= " + width);
  if (tall) tests.push_back("y < 0 || y >= " + height);
  builder.function(
      name, filled(part(kernels::pixel, "border"), {{"type", type},
                                                    {"name", name},
                                                    {"has_value", has_value ? "1" : "0"},
                                                    {"is_outside", joined(tests, " || ")},
                                                    {"outside", outside},
                                                    {"wide", wide ? "1" : "0"},
                                                    {"tall", tall ? "1" : "0"},
                                                    {"rule", has_value ? "" : name_of(border)},
                                                    {"width", width},
                                                    {"height", height},
                                                    {"value", value}}));
}

void write_stencil(Builder& builder, int n, const std::string& name, const std::string& through) {
  const Node& node = builder.node(n);
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  const Operand& image = node.images[0];
  const std::string at = through.empty() ? name + "_at" : through;
  if (through.empty()) {
    write_border(builder, at, "float", builder.value(image, "x", "y"), stencil.border,
                 outside_value(builder, n, stencil.border), builder.width(image),
                 builder.height(image));
  }
  const std::string x = shifted("x", stencil.shift_x), y = shifted("y", stencil.shift_y);
  if (stencil.body != nullptr || stencil.expression != nullptr) {
    const std::string body =
        name + (stencil.body != nullptr ? "_" + std::string(stencil.body->name) : "_expression");
    const std::string tap = builder.call(at, "at_x + (dx)", "at_y + (dy)");
    const std::string centre = builder.call(at, x, y);
    std::string all = "ARGS, " + x + ", " + y;
    for (const std::string& argument : write_stencil_function(
             builder, n, body, "PARAMS, const int at_x, const int at_y", tap, centre)) {
      all += ", " + argument;
    }
    builder.function(
        name, pixel_function(type_of(node.cls), name,
                             returned(converted(node.cls, "float", body + "(" + all + ")"))));
    return;
  }
  const std::string w = weights(builder, n, "weights", 0, stencil.taps.count());
  const std::string tap = builder.call(at, x + " + dx", y + " + dy");
  const std::string sum = stencil.combine == Combine::sum
                              ? weighted_sum(builder, name, stencil.taps, w, tap)
                              : extremum_with_heights(builder, name, stencil.taps,
                                                      stencil.combine == Combine::largest, w, tap);
  builder.function(name, pixel_function(type_of(node.cls), name,
                                        sum + returned(converted(node.cls, "float", "sum"))));
}

PlaneText plane_of_rows(Builder& builder, int n) {
  return builder.scratch_plane(Builder::name({false, n}) + "_rows", PixelClass::single,
                               [n, image = builder.node(n).images[0]](const LaunchContext& at) {
                                 return size_of_rows(at, n, image);
                               });
}

void write_separable_rows(Builder& builder, int n, const std::optional<PixelTile>& tile) {
  const Node& node = builder.node(n);
  const Separable& separable = std::get<Separable>(node.primitive);
  const Operand image = node.images[0];
  const std::string outside = outside_value(builder, n, separable.border);
  const std::string rows = Builder::name({false, n}) + "_rows", at = rows + "_from";
  std::optional<GroupTile> local;
  if (tile) {
    local.emplace(tile_of_image(builder, *tile, n));
    builder.read_through(image, local->function());
  }
  write_border(builder, at, "float", builder.value(image, "x", "y"), separable.border, outside,
               builder.width(image), builder.height(image), true, false);
  builder.read_through(image, "");
  const std::string row_weights = weights(builder, n, "row_weights", 0, separable.row.count());
  const std::string row_tap = builder.call(at, shifted("x", separable.shift_x) + " + dx", "y + dy");
  builder.function(rows + "_value",
                   pixel_function("float", rows + "_value",
                                  weighted_sum(builder, rows, separable.row, row_weights, row_tap) +
                                      returned("sum")));
  const std::string value = builder.call(rows + "_value", "x", "y");
  builder.pixel_kernel(
      "store_" + rows, builder.width({false, n}), builder.height(image),
      [n, image](const LaunchContext& at_launch) { return size_of_rows(at_launch, n, image); },
      assigned(plane_of_rows(builder, n).pixel(), value), local ? local->fill() : "");
}

void write_separable(Builder& builder, int n, const std::string& name, const std::string& through) {
  const Node& node = builder.node(n);
  const Separable& separable = std::get<Separable>(node.primitive);
  const Operand image = node.images[0];
  const std::string rows = Builder::name({false, n}) + "_rows";
  // The column pass, over the row pass's own values.
  const std::string read =
      through.empty() ? plane_of_rows(builder, n).pixel() : builder.call(through, "x", "y");
  write_border(builder, rows + "_at", "float", read, separable.border,
               outside_value(builder, n, separable.border), builder.width({false, n}),
               builder.height(image), false, true);
  const std::string column_weights =
      weights(builder, n, "column_weights", separable.row.count(), separable.column.count());
  const std::string column_tap =
      builder.call(rows + "_at", "x", shifted("y", separable.shift_y) + " + dy");
  const bool of_codes = sums_codes(builder.context(), n);
  const std::string sum =
      of_codes ? declared("int", "sum", "0") + for_each_cell(builder, name, separable.column,
                                                             "sum += (int)" + column_tap + ";")
               : weighted_sum(builder, name, separable.column, column_weights, column_tap);
  const std::string value = of_codes ? "(float)sum * " + column_weights + "[0]" : "sum";
  builder.function(name, pixel_function(type_of(node.cls), name,
                                        sum + returned(converted(node.cls, "float", value))));
}

void write_extremum(Builder& builder, int n, const std::string& name, bool two_passes) {
  const Node& node = builder.node(n);
  const Extremum& extremum = std::get<Extremum>(node.primitive);
  const Operand image = node.images[0];
  const std::string type = type_of(node.cls);
  const std::string nothing =
      node.cls == PixelClass::single ? (extremum.largest ? "-INFINITY" : "INFINITY")
      : extremum.largest             ? "0"
                                     : std::to_string(static_cast<int>(class_max(node.cls)));
  const std::string sign = extremum.largest ? ">" : "<";
  const auto fold = [&](const Mask& mask, const std::string& at) {
    return declared(type, "best", nothing) +
           for_each_cell(builder, name, mask,
                         "const " + type + " v = " + at + "; if (v " + sign + " best) best = v;") +
           returned(node.cls == PixelClass::single ? "one_zero(best)" : "best");
  };
  const std::string at = name + "_at";
  write_border(builder, at, type, builder.value(image, "x", "y"), Border::absent, nothing,
               builder.width(image), builder.height(image));
  const std::string tap = builder.call(at, "x + dx", "y + dy");
  const Mask& mask = extremum.mask;
  if (!two_passes) {
    builder.function(name, pixel_function(type, name, fold(mask, tap)));
    return;
  }
  // A rectangle: rows, then columns.
  const Mask row{mask.width, 1, mask.origin_x, 0, std::vector<std::uint8_t>(mask.width, 1)};
  const Mask column{1, mask.height, 0, mask.origin_y, std::vector<std::uint8_t>(mask.height, 1)};
  const std::string rows = name + "_rows";
  builder.function(rows + "_value", pixel_function(type, rows + "_value", fold(row, tap)));
  const auto size = [image](const LaunchContext& at_launch) { return at_launch.size_of(image); };
  const std::string value = builder.call(rows + "_value", "x", "y");
  const std::string place = builder.scratch_plane(rows, node.cls, size).pixel();
  builder.pixel_kernel("store_" + rows, builder.width(image), builder.height(image), size,
                       assigned(place, value));
  const std::string read = builder.scratch_plane(rows, node.cls, size).pixel();
  write_border(builder, rows + "_at", type, read, Border::absent, nothing, builder.width(image),
               builder.height(image), false, true);
  const std::string column_tap = builder.call(rows + "_at", "x", "y + dy");
  builder.function(name, pixel_function(type, name, fold(column, column_tap)));
}

}  // namespace impipe::jit
