// Reductions by cells of 32x32 pixels: each column of a cell downward in double, the columns in
// pairs, the cells in pairs in row-major order.
#include <algorithm>
#include <map>

#include "backends/jit/measure/measure.hpp"
#include "backends/jit/measure/reduce.hpp"
#include "backends/jit/measure/reduce_cells.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
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

CellFold user_fold(Builder& builder, int n, const std::string& name) {
  const Node& node = builder.node(n);
  const Expression& expression = *std::get<Reduce>(node.primitive).expression;
  const std::string fold = Builder::name({false, n}) + "_fold";
  std::vector<std::string> parameters;
  std::map<std::string, std::string> measured;
  for (const std::string& v : expression.variables()) {
    parameters.push_back(variable_name(v));
    const int argument = argument_index(v);
    if (argument >= 0) measured[v] = builder.argument(n, argument, variable_name(v), "double");
  }
  builder.body(after_line(body_function(
      fold, "double", "", parameters, "return " + expression_body(expression, parameters) + ";")));
  const std::string white = builder.white(node.images[0], "double");
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
  return {name, builder.argument(n, 0, "first", "double"), both("total", "v"), false, false, both};
}

CellFold cell_fold(Builder& builder, int n) {
  const std::string name = Builder::name({false, n});
  const Reduce& reduce = std::get<Reduce>(builder.node(n).primitive);
  const auto value = [&reduce](const std::string& v, const std::string& left_out) {
    return reduce.finite ? "(v - v == 0 ? " + v + " : " + left_out + ")" : v;
  };
  switch (reduce.kind) {
    case ReduceKind::sum: return sum_fold(name, "total + " + value("v", "0.0"));
    case ReduceKind::absolute_sum: return sum_fold(name, "total + " + value("fabs(v)", "0.0"));
    case ReduceKind::count: return sum_fold(name, "total + " + value("1.0", "0.0"));
    case ReduceKind::squared_deviation: {
      const std::string from = builder.argument(n, 0, "from", "double");
      return sum_fold(name, "total + (v - " + from + ") * (v - " + from + ")");
    }
    case ReduceKind::spread: builder.fail("spread is for integer classes");
    case ReduceKind::user: return user_fold(builder, n, name);
    case ReduceKind::min:
    case ReduceKind::max: break;
  }
  const bool largest = reduce.kind == ReduceKind::max;
  const std::string word = largest ? "fmax" : "fmin";
  return {name,
          "NAN",
          word + "(total, " + value("v + 0.0f", "NAN") + ")",  // of 0 and -0 neither is the smaller
          true,
          largest,
          [word](const std::string& a, const std::string& b) {
            return word + "(" + a + ", " + b + ")";
          }};
}

// How many cells, groups and chunks there are of an image.
struct CellCounts {
  Operand image;
  int columns;           // of a work-item
  bool sub_groups;       // groups go down their columns
  std::int64_t at_once;  // such groups that work at once

  int items_a_column() const { return cell / columns; }
  std::int64_t across(const LaunchContext& at) const {
    return (at.size_of(image).width + cell - 1) / cell;
  }
  std::int64_t down(const LaunchContext& at) const {
    return (at.size_of(image).height + cell - 1) / cell;
  }
  // Cells of a row that a group puts together: as many as every row has whole runs of.
  std::int64_t merged(const LaunchContext& at) const {
    std::int64_t m = 1;
    while (2 * m <= items / items_a_column() && across(at) % (2 * m) == 0) m *= 2;
    return m;
  }
  std::int64_t count(const LaunchContext& at) const { return across(at) * down(at) / merged(at); }
  std::int64_t chunks(const LaunchContext& at) const { return (count(at) + chunk - 1) / chunk; }
  std::int64_t groups_x(const LaunchContext& at) const {
    return (across(at) * cell + items * columns - 1) / (items * columns);
  }
  // Groups of sub-groups: as many as are at work at once.
  std::int64_t groups_y(const LaunchContext& at) const {
    if (!sub_groups) return down(at);
    const std::int64_t limit =
        std::max<std::int64_t>(1, groups_of_plane(at, at_once) / 8 / groups_x(at));
    const std::int64_t each = (down(at) + limit - 1) / limit;  // cells of a group
    return (down(at) + each - 1) / each;
  }
  std::int64_t groups(const LaunchContext& at) const { return groups_x(at) * groups_y(at); }
};

// Writes the kernels of reductions of one image.
class CellsWriter {
 public:
  CellsWriter(Builder& builder, const Reductions& reductions)
      : builder_(builder),
        nodes_(reductions.nodes),
        scalars_(reductions.scalars),
        image_(builder.node(nodes_[0]).images[0]),
        name_(Builder::name({false, nodes_[0]})),
        made_(reductions.made),
        wide_(builder.tuning().fast && (reductions.image.in_memory || made_ >= 0) &&
              builder.cls(image_) == PixelClass::single),
        one_launch_(builder.context().ends_in_last_group()),
        // Where registers spill, of an image that this kernel makes: 94 us against 81 for four
        // measurements of 8192x8192 floats in memory.
        sub_groups_(wide_ && one_launch_ && builder.features().exchanges &&
                    (!builder.features().spills || made_ >= 0)),
        counts_{image_, wide_ ? 4 : 1, sub_groups_, builder.tuning().groups_at_once()} {}

  void write() {
    for (const int n : nodes_) folds_.push_back(cell_fold(builder_, n));
    places_ = number_of("_count", &CellCounts::count);
    all_groups_ = number_of("_groups", &CellCounts::groups);
    width_ = builder_.width(image_);
    write_cells_of_groups();
    for (std::size_t i = 0; i < nodes_.size(); ++i) write_end(i);
    for (const int n : scalars_) {
      write_scalar(builder_, n,
                   [counts = counts_](const LaunchContext& at) { return counts.chunks(at) > 1; });
    }
  }

 private:
  using Count = std::int64_t (CellCounts::*)(const LaunchContext&) const;

  std::string number_of(const std::string& what, Count count) {
    return builder_.integer(name_ + what, [counts = counts_, count](const LaunchContext& at) {
      return (counts.*count)(at);
    });
  }
  std::string merged() { return number_of("_merged", &CellCounts::merged); }
  std::string of_cells(const CellFold& fold) {
    return builder_.scratch(fold.name + "_cells", "double",
                            [counts = counts_](const LaunchContext& at) {
                              return std::max(counts.count(at), counts.groups(at)) * 8;
                            });
  }
  std::string of_chunks(const CellFold& fold) {
    return builder_.scratch(
        fold.name + "_chunks", "double",
        [counts = counts_](const LaunchContext& at) { return counts.chunks(at) * 8; });
  }
  std::string unroll_some() const { return builder_.tuning().unroll ? unroll_pragma(8) : ""; }

  // A part of a fold. cells, chunks, out: its memory.
  std::string fill(std::string_view name_of_part, const CellFold& fold, const std::string& cells,
                   const std::string& chunks = "", const std::string& out = "") {
    return Substitutions(
               {{"cells", cells},
                {"chunks", chunks},
                {"out", out},
                {"items", number(items)},
                {"columns", number(counts_.columns)},
                {"items_a_column", number(counts_.items_a_column())},
                {"width", width_},
                {"first", fold.first},
                {"map", fold.map},
                {"totals", "totals_" + fold.name},
                {"in_item", in_item(fold, "totals_" + fold.name, counts_.columns)},
                {"name_chunk", fold.name + "_chunk"},
                {"run", number(run)},
                {"chunk", number(chunk)},
                {"count", fold.extreme ? all_groups_ : places_},
                {"unroll", name_of_part == "extremes_end" ? unroll_some() : builder_.unroll()},
                {"both_items", fold.both("parts[ITEM]", "parts[ITEM + step]")},
                {"both_runs", fold.both("v[k]", "v[k + step]")},
                {"both_chunks", fold.both("of_chunks[i]", "of_chunks[i + step]")}})
        .filled(part(kernels::reduce_cells, name_of_part));
  }

  bool batched() const { return wide_ && builder_.tuning().unroll; }

  // The pass over the pixels.
  void write_cells_of_groups() {
    for (const CellFold& fold : folds_) {
      if (!fold.extreme) builder_.body(fill("chunk", fold, ""));
    }
    std::string text = sub_groups_ ? in_sub_groups() : in_groups();
    if (one_launch_ && !sub_groups_) text += last_group();
    builder_.kernel(
        name_ + "_cells_of_groups", items, text,
        [counts = counts_](const LaunchContext& at) {
          return LaunchShape{{counts.groups_x(at), counts.groups_y(at), 1}, {items, 1, 1}};
        },
        sub_groups_ ? cell_groups
        : batched() ? 4
                    : 0);
  }

  // The statements of all folds of a pass that reads the pixels.
  std::string in_groups() {
    const std::string columns = number(counts_.columns),
                      each_column = builder_.loop("k", counts_.columns);
    std::string begin, steps, ends;
    for (const CellFold& fold : folds_) {
      const std::string totals = "totals_" + fold.name, type = fold.extreme ? "float" : "double";
      begin += array_of(type, totals, columns) + each_column + assigned(totals + "[k]", fold.first);
      steps +=
          each_column + braced(statement("const " + type + " v = p[k], total = " + totals + "[k]") +
                               assigned(totals + "[k]", fold.map));
      ends += fill(fold.extreme ? "end_of_extremes" : "end_of_cells", fold, of_cells(fold));
    }
    const std::string load =
        wide_ ? array_of("float", "p", 4) +
                    statement("load_16_float(" + builder_.plane(image_).row("y") + " + x0, p)")
              : declared("const int", "x", "x0") +
                    declared("const " + type_of(builder_.cls(image_)), "p[1]",
                             listed(builder_.value(image_, "x", "y")));
    const std::string batches =
        batched() ? filled(part(kernels::reduce_cells, "batches"),
                           {{"row", builder_.plane(image_).row("(y + r)")}, {"steps", steps}})
                  : "";
    return filled(part(kernels::reduce_cells, "cells"),
                  {{"items", number(items)},
                   {"columns", columns},
                   {"items_a_column", number(counts_.items_a_column())},
                   {"width", width_},
                   {"height", builder_.height(image_)},
                   {"merged", merged()},
                   {"unroll", batched() ? "" : unroll_some()},
                   {"begin", begin},
                   {"batches", batches},
                   {"load", load},
                   {"steps", steps},
                   {"end_of_cells", ends},
                   {"end_of_extremes", ""}});
  }

  // The end of a fold whose cells are one chunk.
  std::string end(std::size_t i) {
    return fill(folds_[i].extreme ? "extremes_end" : "chunk_end", folds_[i], of_cells(folds_[i]),
                "", builder_.measure({false, nodes_[i]}));
  }

  // Whether the last group of the pass ends it: the cells are one chunk.
  std::string one_chunk() {
    return builder_.integer(name_ + "_one_chunk", [counts = counts_](const LaunchContext& at) {
      return counts.chunks(at) == 1;
    });
  }

  // What the last group of a pass does.
  std::string last_group() {
    std::string all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) all += end(i);
    all += scalars_at_end(builder_, scalars_, items);
    return filled(part(kernels::reduce_cells, "last_group"),
                  {{"ticket", builder_.ticket()}, {"one_chunk", one_chunk()}, {"end", all}});
  }

  // The pass of sub-groups, with what its last group does.
  std::string in_sub_groups() {
    CellPass pass{.width = width_,
                  .height = builder_.height(image_),
                  .merged = merged(),
                  .count = places_,
                  .groups = all_groups_,
                  .one_chunk = one_chunk(),
                  .ticket = builder_.ticket(),
                  .scalars = scalars_at_end(builder_, scalars_, items),
                  .image = {},
                  .folds = folds_,
                  .cells = {},
                  .out = {},
                  .made_rows = {}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      pass.cells.push_back(of_cells(folds_[i]));
      pass.out.push_back(builder_.measure({false, nodes_[i]}));
    }
    if (made_ >= 0) {
      pass.made_rows = [this](const std::string& step) { return cell_rows(builder_, made_, step); };
    } else {
      pass.image = builder_.plane(image_);
    }
    return cells_in_sub_groups(pass);
  }

  // The kernels that end a fold: where its cells are one chunk, and where they are many.
  void write_end(std::size_t i) {
    const CellFold& fold = folds_[i];
    const auto one_group = [counts = counts_](bool of_one, bool of_many) {
      return [=](const LaunchContext& at) {
        const bool wanted = counts.chunks(at) == 1 ? of_one : of_many;
        return LaunchShape{{wanted ? 1 : 0, 1, 1}, {items, 1, 1}};
      };
    };
    if (fold.extreme || !one_launch_) {
      builder_.kernel(fold.name + "_total", items,
                      array_of("LOCAL double", "parts", items) + end(i),
                      one_group(!one_launch_, fold.extreme));
    }
    if (fold.extreme) return;
    builder_.kernel(fold.name + "_chunks_of_cells", items,
                    fill("chunks", fold, of_cells(fold), of_chunks(fold)),
                    [counts = counts_](const LaunchContext& at) {
                      const std::int64_t made = counts.chunks(at);
                      return LaunchShape{{made > 1 ? made : 0, 1, 1}, {items, 1, 1}};
                    });
    builder_.kernel(
        fold.name + "_total_of_chunks", items,
        fill("chunks_end", fold, "", of_chunks(fold), builder_.measure({false, nodes_[i]})),
        one_group(false, true));
  }

  Builder& builder_;
  const std::vector<int>&nodes_, &scalars_;
  Operand image_;
  std::string name_;
  int made_;  // the node whose pixels the pass makes; -1: it reads them
  bool wide_, one_launch_;
  bool sub_groups_;  // that exchange registers
  CellCounts counts_;
  std::vector<CellFold> folds_;
  std::string places_, all_groups_, width_;
};

}  // namespace

std::string in_item(const CellFold& fold, const std::string& totals, int columns) {
  std::string text;
  for (int step = 1; step < columns; step *= 2) {
    for (int k = 0; k + step < columns; k += 2 * step) {
      const std::string a = totals + "[" + std::to_string(k) + "]";
      const std::string b = totals + "[" + std::to_string(k + step) + "]";
      text +=
          "if (in_cell + " + std::to_string(k + step) + " < wide) " + assigned(a, fold.both(a, b));
    }
  }
  return text;
}

void write_cells(Builder& builder, const Reductions& reductions) {
  CellsWriter(builder, reductions).write();
}

}  // namespace impipe::jit
