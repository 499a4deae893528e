// Reductions as text: exact sums of integers and extremes by streaming, everything else by cells of
// 32x32 pixels.
#include <algorithm>

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int cell = 32;

// Groups take rows in turn; each leaves a part a channel.
constexpr const char* stream_kernel = R"(  LOCAL $type parts[$items];
  for (int c = 0; c < $channels; ++c) {
    $type total = $first;
    for (int y = GROUP_X; y < $height; y += GROUPS_X) {
$row    }
    parts[ITEM] = total;
    for (int step = $items / 2; step > 0; step /= 2) {
      BARRIER;
      if (ITEM < step) parts[ITEM] = $combine(parts[ITEM], parts[ITEM + step]);
    }
    if (ITEM == 0) $parts[c * $groups + GROUP_X] = parts[0];
    BARRIER;
  }
)";

constexpr const char* narrow_row =
    R"(      for (int x = ITEM; x < $width; x += $items) total = $combine(total, ($type)$value);
)";

// Of a plane: many values a load, combined as they are before they join the total.
constexpr const char* wide_row = R"(      GLOBAL const $pixel* const row = $plane;
$unroll      for (int x = ITEM * $wide; x < $width; x += $items * $wide) {
        if (x + $wide <= $width) {
          $pixel v[$wide];
          load_16_$pixel(row + x, v);
          $part part = v[0];
$unroll_all          for (int k = 1; k < $wide; ++k) part = $combine_parts(part, v[k]);
          total = $combine(total, ($type)part);
        } else {
          for (int k = x; k < $width; ++k) total = $combine(total, ($type)row[k]);
        }
      }
)";

constexpr const char* stream_end_kernel = R"(  LOCAL $type parts[$items];
  for (int c = 0; c < $channels; ++c) {
    $type total = $first;
    for (int i = ITEM; i < $groups; i += $items) total = $combine(total, $parts[c * $groups + i]);
    parts[ITEM] = total;
    for (int step = $items / 2; step > 0; step /= 2) {
      BARRIER;
      if (ITEM < step) parts[ITEM] = $combine(parts[ITEM], parts[ITEM + step]);
    }
    if (ITEM == 0) $out[c] = (double)parts[0];
    BARRIER;
  }
)";

// A group takes four cells side by side, a work-item a column: downward, then the columns in pairs.
constexpr const char* cells_kernel = R"(  LOCAL double columns[$items];
  const int x = GROUP_X * $items + ITEM;
  const int last = smaller(GROUP_Y * 32 + 32, $height);
  const int cells_across = ($width + 31) / 32;
  const int cells = cells_across * (($height + 31) / 32);
  const int wide = smaller(32, $width - (x - x % 32));
  for (int c = 0; c < $channels; ++c) {
    double total = $first;
    if (x < $width) {
$unroll      for (int y = GROUP_Y * 32; y < last; ++y) {
        const double v = (double)$value;
        total = $map;
      }
    }
    columns[ITEM] = total;
    for (int step = 1; step < 32; step *= 2) {
      BARRIER;
      if (ITEM % 32 % (2 * step) == 0 && ITEM % 32 + step < wide) {
        columns[ITEM] = $combine;
      }
    }
    if (ITEM % 32 == 0 && x < $width) {
      $cells[(long)c * cells + GROUP_Y * cells_across + x / 32] = columns[ITEM];
    }
    BARRIER;
  }
)";

// One group: the cells in pairs, in row-major order.
constexpr const char* cells_end_kernel =
    R"(  const int count = (($width + 31) / 32) * (($height + 31) / 32);
  for (int c = 0; c < $channels; ++c) {
    GLOBAL double* cells = $cells + (long)c * count;
    for (long step = 1; step < count; step *= 2) {
      for (long i = ITEM * 2 * step; i + step < count; i += $items * 2 * step) {
        cells[i] = $combine;
      }
      GLOBAL_BARRIER;
    }
    if (ITEM == 0) $out[c] = cells[0];
  }
)";

LaunchShape one_group(const LaunchContext&) { return {{1, 1, 1}, {items, 1, 1}}; }

void write_stream(Builder& to, int n, bool sum, const std::string& combine) {
  const Node& node = to.node(n);
  const Operand image = node.images[0];
  const int channels = to.channels(image);
  const std::string name = Builder::name({false, n});
  const std::string type = sum ? "long" : "double";
  const std::string first = sum ? "0" : "NAN";
  to.function(name + "_combine", "FUNCTION " + type + " " + name + "_combine(const " + type +
                                     " a, const " + type + " b) {\n  return " + combine + ";\n}\n");
  const bool wide = to.fast() && image.external && channels == 1;
  const std::string part = to.cls(image) == PixelClass::single ? "float" : sum ? "uint" : "int";
  to.function(name + "_combine_parts", "FUNCTION " + part + " " + name + "_combine_parts(const " +
                                           part + " a, const " + part + " b) {\n  return " +
                                           combine + ";\n}\n");
  const std::string unroll = to.tuning().unroll ? "#pragma unroll" : "";
  const auto row = [&] {
    const std::string text = filled(wide ? wide_row : narrow_row,
                                    {{"width", to.width(image)},
                                     {"items", std::to_string(items)},
                                     {"type", type},
                                     {"combine", name + "_combine"},
                                     {"value", wide ? "" : to.value(image, "x", "y", "c")},
                                     {"pixel", type_of(to.cls(image))},
                                     {"plane", wide ? to.plane(image).row("y") : ""},
                                     {"wide", std::to_string(16 / bytes_of(to.cls(image)))},
                                     {"part", part},
                                     {"combine_parts", name + "_combine_parts"},
                                     {"unroll", unroll.empty() ? "" : unroll + " 4\n"},
                                     {"unroll_all", unroll.empty() ? "" : unroll + "\n"}});
    return text;
  };
  const int most = to.tuning().groups_at_once;
  const auto groups = [image, most](const LaunchContext& at) {
    return std::min<std::int64_t>(most, at.size_of(image).height);
  };
  const std::string groups_text = to.parameter(
      ParameterType::int32, name + "_groups",
      [groups](const LaunchContext& at, int) { return static_cast<double>(groups(at)); });
  const auto parts = [&] {
    return to.scratch(name + "_parts", type, [groups, channels](const LaunchContext& at) {
      return groups(at) * 8 * channels;
    });
  };
  const auto fill = [&](const char* text) {
    return filled(text, {{"type", type},
                         {"items", std::to_string(items)},
                         {"channels", std::to_string(channels)},
                         {"first", first},
                         {"height", to.height(image)},
                         {"width", to.width(image)},
                         {"combine", name + "_combine"},
                         {"row", text == stream_kernel ? row() : ""},
                         {"parts", parts()},
                         {"groups", groups_text},
                         {"out", text == stream_kernel ? "" : to.measure({false, n})}});
  };
  to.kernel(name + "_parts_of_groups", items, fill(stream_kernel),
            [groups](const LaunchContext& at) {
              return LaunchShape{{groups(at), 1, 1}, {items, 1, 1}};
            });
  to.kernel(name + "_total", items, fill(stream_end_kernel), one_group);
}

void write_cells(
    Builder& to, int n, const std::string& first, const std::string& map,
    const std::function<std::string(const std::string&, const std::string&)>& combine) {
  const Node& node = to.node(n);
  const Operand image = node.images[0];
  const int channels = to.channels(image);
  const std::string name = Builder::name({false, n});
  const auto across = [image](const LaunchContext& at) {
    return (at.size_of(image).width + cell - 1) / cell;
  };
  const auto down = [image](const LaunchContext& at) {
    return (at.size_of(image).height + cell - 1) / cell;
  };
  const auto cells = [&] {
    return to.scratch(name + "_cells", "double", [=](const LaunchContext& at) {
      return across(at) * down(at) * channels * 8;
    });
  };
  const std::string width = to.width(image), height = to.height(image);
  to.kernel(
      name + "_cells_of_groups", items,
      filled(cells_kernel, {{"items", std::to_string(items)},
                            {"width", width},
                            {"height", height},
                            {"channels", std::to_string(channels)},
                            {"first", first},
                            {"value", to.value(image, "x", "y", "c")},
                            {"unroll", to.tuning().unroll ? "#pragma unroll 16\n" : ""},
                            {"map", map},
                            {"combine", combine("columns[ITEM]", "columns[ITEM + step]")},
                            {"cells", cells()}}),
      [=](const LaunchContext& at) {
        return LaunchShape{{(across(at) * cell + items - 1) / items, down(at), 1}, {items, 1, 1}};
      });
  to.kernel(name + "_total", items,
            filled(cells_end_kernel, {{"items", std::to_string(items)},
                                      {"width", width},
                                      {"height", height},
                                      {"channels", std::to_string(channels)},
                                      {"combine", combine("cells[i]", "cells[i + step]")},
                                      {"cells", cells()},
                                      {"out", to.measure({false, n})}}),
            one_group);
}

void write_user_fold(Builder& to, int n) {
  const Node& node = to.node(n);
  const Expression& expression = *std::get<Reduce>(node.primitive).expression;
  const std::string fold = Builder::name({false, n}) + "_fold";
  std::vector<std::string> parameters;
  for (const std::string& v : expression.variables()) parameters.push_back("v_" + v);
  to.body("\n" + body_function(fold, "double", "", parameters,
                               "return " + expression_body(expression, parameters) + ";"));
  const std::string white = to.white(node.images[0], "double");
  const auto combine = [&](const std::string& acc, const std::string& x) {
    std::vector<std::string> arguments;
    for (const std::string& v : expression.variables()) {
      arguments.push_back(v == "acc" ? acc : v == "white" ? white : x);
    }
    return fold + "(" + joined(arguments) + ")";
  };
  write_cells(to, n, to.argument(n, 0, "first", "double", "c"), combine("total", "v"), combine);
}

}  // namespace

void write_reduce(Builder& to, int n) {
  const Node& node = to.node(n);
  const Reduce& reduce = std::get<Reduce>(node.primitive);
  const bool codes = is_integer(to.cls(node.images[0]));
  const auto sum = [](const std::string& a, const std::string& b) { return a + " + " + b; };
  switch (reduce.kind) {
    case ReduceKind::min:
      return write_stream(to, n, false, "b < a || a != a ? b : a");
    case ReduceKind::max:
      return write_stream(to, n, false, "b > a || a != a ? b : a");
    case ReduceKind::sum:
      if (codes) return write_stream(to, n, true, "a + b");
      return write_cells(to, n, "0.0", "total + v", sum);
    case ReduceKind::absolute_sum:
      if (codes) return write_stream(to, n, true, "a + b");
      return write_cells(to, n, "0.0", "total + fabs(v)", sum);
    case ReduceKind::squared_deviation: {
      const std::string from = to.argument(n, 0, "from", "double", "c");
      return write_cells(to, n, "0.0", "total + (v - " + from + ") * (v - " + from + ")", sum);
    }
    case ReduceKind::user:
      return write_user_fold(to, n);
  }
}

}  // namespace impipe::jit
