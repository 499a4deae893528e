// Reductions by cells of 32x32 pixels: each column of a cell downward in double, the columns in
// pairs, the cells in pairs in row-major order.
#include <algorithm>
#include <map>

#include "backends/jit/measure/measure.hpp"
#include "backends/jit/measure/reduce.hpp"
#include "backends/jit/measure/reduce_cells.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

constexpr int cell = 32;
constexpr int items = cell_items, run = cell_run, chunk = cell_chunk;

CellFold sum_fold(const std::string& name, const std::string& map) {
  const auto sum = [](const std::string& a, const std::string& b) { return a + " + " + b; };
  return {name, "0.0", map, false, false, sum};
}

CellFold user_fold(Builder& to, int n, const std::string& name) {
  const Node& node = to.node(n);
  const Expression& expression = *std::get<Reduce>(node.primitive).expression;
  const std::string fold = Builder::name({false, n}) + "_fold";
  std::vector<std::string> parameters;
  std::map<std::string, std::string> measured;
  for (const std::string& v : expression.variables()) {
    parameters.push_back(variable_name(v));
    const int argument = argument_index(v);
    if (argument >= 0) measured[v] = to.argument(n, argument, variable_name(v), "double");
  }
  to.body("\n" + body_function(fold, "double", "", parameters,
                               "return " + expression_body(expression, parameters) + ";"));
  const std::string white = to.white(node.images[0], "double");
  const auto both = [expression = &expression, fold, white, measured](const std::string& acc,
                                                                      const std::string& x) {
    std::vector<std::string> arguments;
    for (const std::string& v : expression->variables()) {
      arguments.push_back(measured.contains(v) ? measured.at(v)
                          : v == "acc"         ? acc
                          : v == "white"       ? white
                                               : x);
    }
    return fold + "(" + joined(arguments) + ")";
  };
  return {name, to.argument(n, 0, "first", "double"), both("total", "v"), false, false, both};
}

CellFold cell_fold(Builder& to, int n) {
  const std::string name = Builder::name({false, n});
  switch (std::get<Reduce>(to.node(n).primitive).kind) {
    case ReduceKind::sum: return sum_fold(name, "total + v");
    case ReduceKind::absolute_sum: return sum_fold(name, "total + fabs(v)");
    case ReduceKind::squared_deviation: {
      const std::string from = to.argument(n, 0, "from", "double");
      return sum_fold(name, "total + (v - " + from + ") * (v - " + from + ")");
    }
    case ReduceKind::spread: to.fail("spread is for integer classes");
    case ReduceKind::user: return user_fold(to, n, name);
    case ReduceKind::min:
    case ReduceKind::max: break;
  }
  const bool largest = std::get<Reduce>(to.node(n).primitive).kind == ReduceKind::max;
  const std::string word = largest ? "fmax" : "fmin";
  return {name,
          "NAN",
          word + "(total, v)",
          true,
          largest,
          [word](const std::string& a, const std::string& b) {
            return word + "(" + a + ", " + b + ")";
          }};
}

}  // namespace

std::string in_item(const CellFold& fold, const std::string& totals, int columns) {
  std::string text;
  for (int step = 1; step < columns; step *= 2) {
    for (int k = 0; k + step < columns; k += 2 * step) {
      const std::string a = totals + "[" + std::to_string(k) + "]";
      const std::string b = totals + "[" + std::to_string(k + step) + "]";
      text += "      if (in_cell + " + std::to_string(k + step) + " < wide) " + a + " = " +
              fold.both(a, b) + ";\n";
    }
  }
  return text;
}

void write_cells(Builder& to, const Reductions& reductions) {
  const std::vector<int>& nodes = reductions.nodes;
  const Operand image = to.node(nodes[0]).images[0];
  const std::string name = Builder::name({false, nodes[0]});
  const bool wide = to.tuning().fast && (image.external || to.output_of(image.index) >= 0) &&
                    to.cls(image) == PixelClass::single;
  const int columns = wide ? 4 : 1, items_a_column = cell / columns;
  const auto number = [](int i) { return std::to_string(i); };
  const auto across = [image](const LaunchContext& at) {
    return (at.size_of(image).width + cell - 1) / cell;
  };
  const auto down = [image](const LaunchContext& at) {
    return (at.size_of(image).height + cell - 1) / cell;
  };
  // Cells of a row that a group puts together: as many as every row has whole runs of.
  const auto merged = [across, items_a_column](const LaunchContext& at) {
    std::int64_t m = 1;
    while (2 * m <= items / items_a_column && across(at) % (2 * m) == 0) m *= 2;
    return m;
  };
  const auto count = [=](const LaunchContext& at) { return across(at) * down(at) / merged(at); };
  const auto groups_x = [=](const LaunchContext& at) {
    return (across(at) * cell + items * columns - 1) / (items * columns);
  };
  const auto whole = [](auto function) {
    return [function](const LaunchContext& at, int) { return static_cast<double>(function(at)); };
  };
  const auto parameter = [&](const std::string& what, const ParameterValue& value) {
    return to.parameter(ParameterType::int32, name + what, value);
  };
  std::vector<CellFold> folds;
  for (const int n : nodes) folds.push_back(cell_fold(to, n));
  const auto chunks = [count](const LaunchContext& at) { return (count(at) + chunk - 1) / chunk; };
  // NVIDIA's OpenCL spills there: 94 us against 81 for four measurements of 8192x8192 floats.
  const bool sub_groups =
      wide && to.context().ends_in_last_group() && to.dialect() == Dialect::cuda;
  // Groups of sub-groups go down their columns: as many as are at work at once.
  const std::int64_t at_once = to.tuning().groups_at_once();
  const auto groups_y = [=](const LaunchContext& at) {
    if (!sub_groups) return down(at);
    const std::int64_t limit =
        std::max<std::int64_t>(1, groups_of_plane(at, at_once) / 8 / groups_x(at));
    const std::int64_t each =
        (down(at) + limit - 1) / limit;  // cells of a group, one below another
    return (down(at) + each - 1) / each;
  };
  const auto groups = [=](const LaunchContext& at) { return groups_x(at) * groups_y(at); };
  const auto of_cells = [&](const CellFold& fold) {
    return to.scratch(fold.name + "_cells", "double",
                      [=](const LaunchContext& at) { return std::max(count(at), groups(at)) * 8; });
  };
  const auto of_chunks = [&](const CellFold& fold) {
    return to.scratch(fold.name + "_chunks", "double",
                      [=](const LaunchContext& at) { return chunks(at) * 8; });
  };
  const std::string unroll_all = to.tuning().unroll ? "#pragma unroll\n" : "",
                    unroll_some = to.tuning().unroll ? "#pragma unroll 8\n" : "";
  const std::string places = parameter("_count", whole(count));
  const std::string all_groups = parameter("_groups", whole(groups));
  const std::string width = to.width(image);
  const auto fill = [&](std::string_view name_of_part, const CellFold& fold,
                        const std::string& cells, const std::string& chunks_text = "",
                        const std::string& out = "") {
    return filled(part(kernels::reduce_cells, name_of_part),
                  {{"cells", cells},
                   {"chunks", chunks_text},
                   {"out", out},
                   {"items", number(items)},
                   {"columns", number(columns)},
                   {"items_a_column", number(items_a_column)},
                   {"width", width},
                   {"first", fold.first},
                   {"map", fold.map},
                   {"totals", "totals_" + fold.name},
                   {"in_item", in_item(fold, "totals_" + fold.name, columns)},
                   {"name_chunk", fold.name + "_chunk"},
                   {"run", number(run)},
                   {"chunk", number(chunk)},
                   {"count", fold.extreme ? all_groups : places},
                   {"unroll", name_of_part == "extremes_end" ? unroll_some : unroll_all},
                   {"both_items", fold.both("parts[ITEM]", "parts[ITEM + step]")},
                   {"both_runs", fold.both("v[k]", "v[k + step]")},
                   {"both_chunks", fold.both("of_chunks[i]", "of_chunks[i + step]")}});
  };
  std::string begin, steps, ends;
  for (const CellFold& fold : folds) {
    const std::string totals = "totals_" + fold.name, type = fold.extreme ? "float" : "double";
    begin += "    " + type + " " + totals + "[" + number(columns) + "];\n" + unroll_all +
             "    for (int k = 0; k < " + number(columns) + "; ++k) " + totals +
             "[k] = " + fold.first + ";\n";
    steps += unroll_all + "        for (int k = 0; k < " + number(columns) + "; ++k) {\n" +
             "          const " + type + " v = p[k], total = " + totals + "[k];\n          " +
             totals + "[k] = " + fold.map + ";\n        }\n";
    ends += fill(fold.extreme ? "end_of_extremes" : "end_of_cells", fold, of_cells(fold));
  }
  const std::string load = wide ? "        float p[4];\n        load_16_float(" +
                                      to.plane(image).row("y") + " + x0, p);\n"
                                : "        const int x = x0;\n        const " +
                                      type_of(to.cls(image)) + " p[1] = {" +
                                      to.value(image, "x", "y") + "};\n";
  const bool batched = wide && to.tuning().unroll;
  const std::string batches =
      batched ? filled(part(kernels::reduce_cells, "batches"),
                       {{"row", to.plane(image).row("(y + r)")}, {"steps", steps}})
              : "";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!folds[i].extreme) to.body(fill("chunk", folds[i], ""));
  }
  // The end of a fold whose cells are one chunk.
  const auto end = [&](std::size_t i) {
    return fill(folds[i].extreme ? "extremes_end" : "chunk_end", folds[i], of_cells(folds[i]), "",
                to.measure({false, nodes[i]}));
  };
  std::string text =
      filled(part(kernels::reduce_cells, "cells"), {{"items", number(items)},
                                                    {"columns", number(columns)},
                                                    {"items_a_column", number(items_a_column)},
                                                    {"width", width},
                                                    {"height", to.height(image)},
                                                    {"merged", parameter("_merged", whole(merged))},
                                                    {"unroll", batched ? "" : unroll_some},
                                                    {"begin", begin},
                                                    {"batches", batches},
                                                    {"load", load},
                                                    {"steps", steps},
                                                    {"end_of_cells", ends},
                                                    {"end_of_extremes", ""}});
  const bool one_launch = to.context().ends_in_last_group();
  const std::vector<int>& scalars = reductions.scalars;
  if (one_launch) {
    std::string all;
    for (std::size_t i = 0; i < nodes.size(); ++i) all += end(i);
    const std::string after = scalars_at_end(to, scalars, items);
    all += after;
    const auto one = [chunks](const LaunchContext& at) { return chunks(at) == 1; };
    const std::string one_chunk = parameter("_one_chunk", whole(one));
    if (sub_groups) {
      CellPass pass{width,
                    to.height(image),
                    parameter("_merged", whole(merged)),
                    places,
                    all_groups,
                    one_chunk,
                    to.ticket(),
                    after,
                    to.plane(image),
                    folds,
                    {},
                    {}};
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        pass.cells.push_back(of_cells(folds[i]));
        pass.out.push_back(to.measure({false, nodes[i]}));
      }
      text = cells_in_sub_groups(pass);
    } else {
      text += filled(part(kernels::reduce_cells, "last_group"),
                     {{"ticket", to.ticket()}, {"one_chunk", one_chunk}, {"end", all}});
    }
  }
  to.kernel(
      name + "_cells_of_groups", items, text,
      [=](const LaunchContext& at) {
        return LaunchShape{{groups_x(at), groups_y(at), 1}, {items, 1, 1}};
      },
      sub_groups ? cell_groups
      : batched  ? 4
                 : 0);
  const std::string local = "  LOCAL double parts[" + number(items) + "];\n";
  const auto one_group = [chunks](bool of_one, bool of_many) {
    return [=](const LaunchContext& at) {
      const bool wanted = chunks(at) == 1 ? of_one : of_many;
      return LaunchShape{{wanted ? 1 : 0, 1, 1}, {items, 1, 1}};
    };
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const CellFold& fold = folds[i];
    if (fold.extreme || !one_launch) {
      to.kernel(fold.name + "_total", items, local + end(i), one_group(!one_launch, fold.extreme));
    }
    if (fold.extreme) continue;
    to.kernel(fold.name + "_chunks_of_cells", items,
              fill("chunks", fold, of_cells(fold), of_chunks(fold)),
              [chunks](const LaunchContext& at) {
                const std::int64_t made = chunks(at);
                return LaunchShape{{made > 1 ? made : 0, 1, 1}, {items, 1, 1}};
              });
    to.kernel(fold.name + "_total_of_chunks", items,
              fill("chunks_end", fold, "", of_chunks(fold), to.measure({false, nodes[i]})),
              one_group(false, true));
  }
  for (const int n : scalars) {
    write_scalar(to, n, [chunks](const LaunchContext& at) { return chunks(at) > 1; });
  }
}

}  // namespace impipe::jit
