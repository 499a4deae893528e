// Prepares the points of a launch: each has a program, or a lookup table that represents it and
// the points before it.
#include "backends/cpu/point_programs.hpp"

#include <algorithm>
#include <utility>

#include "backends/cpu/point/known_tables.hpp"
#include "core/error.hpp"

namespace impipe::cpu {
namespace {

std::shared_ptr<const CodeTable> shared(CodeTable table) {
  look_for_step(table);
  return std::make_shared<const CodeTable>(std::move(table));
}

// A point's table, if it has one; large ones of bodies are remembered.
KnownTable table_of(PlaneRuns& runs, const PointProgram& program, const PlaneRun& run,
                    PixelClass from, bool small) {
  const PointBody* body = std::get<Point>(run.node->primitive).body;
  const TableOf what{body, run.arguments.in_double, from, run.node->cls, runs.level};
  const bool keep = !small && body != nullptr && run.arguments.table.empty();
  if (keep) {
    if (const auto known = known_table(what)) return *known;
  }
  std::unique_ptr<Scratch> scratch = runs.scratches.take();
  PointProgram::State state;
  KnownTable made;
  if (auto table = program.table(state, *scratch)) {
    made.replaceable = !small && program.can_replace(*table, state, *scratch);
    made.table = shared(std::move(*table));
  }
  runs.scratches.give(std::move(scratch));
  if (keep) remember_table(what, made);
  return made;
}

// Whether a table is before it or may come behind it, with which its own is one.
bool is_in_chain(const PlaneRuns& runs, std::size_t p) {
  const Operand& in = runs.images_of(p)[0];
  if (!in.external && runs.nodes[in.index].table != nullptr) return true;
  for (std::size_t next = p + 1; next < runs.graph.nodes.size(); ++next) {
    const PlaneNode& node = runs.graph.nodes[next];
    if (!std::holds_alternative<Point>(runs.spec.nodes[node.node].primitive) ||
        node.images.size() != 1)
      continue;
    if (!node.images[0].external && node.images[0].index == static_cast<int>(p)) return true;
  }
  return false;
}

std::shared_ptr<const CodeTable> given_table(const PlaneRuns& runs, std::size_t p) {
  const PixelClass from = runs.class_of(runs.images_of(p)[0]);
  const Plane& plane = *runs.inputs[runs.images_of(p)[1].index];
  CodeTable table{from, plane.cls(), {}, {}};
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    table.values.insert(table.values.end(), plane.row(y), plane.row(y) + plane.row_bytes());
  }
  const std::int64_t have = plane.size().pixels();
  if (have != codes_of(from)) {
    throw Error("a table for " + std::string(name_of(from)) + " must have " +
                    std::to_string(codes_of(from)) + " values; this one has " +
                    std::to_string(have),
                ExitCode::file_failed);
  }
  return shared(std::move(table));
}

void make_program(PlaneRuns& runs, std::size_t p) {
  PlaneRun& run = runs.nodes[p];
  const Node& node = *run.node;
  PointInputs inputs;
  for (const Operand& plane : runs.images_of(p)) {
    inputs.classes.push_back(runs.class_of(plane));
  }
  inputs.white = runs.white_of(runs.images_of(p)[0]);
  const auto program =
      std::make_shared<PointProgram>(node, run.arguments, inputs, run.size, runs.level);
  run.point = program;
  // A table of 65,536 codes is dearer than a small image.
  constexpr std::int64_t cheap = 256;
  const bool for_all =
      std::none_of(node.arguments.begin(), node.arguments.end(),
                   [](const Argument& a) { return a.source == Argument::Source::measured; });
  const std::int64_t pixels = run.size.pixels() * (for_all ? runs.spec.planes : 1);
  if (!is_integer(inputs.classes[0]) || codes_of(inputs.classes[0]) > std::max(cheap, pixels)) {
    return;
  }
  const bool small = codes_of(inputs.classes[0]) <= cheap;
  const KnownTable made = table_of(runs, *program, run, inputs.classes[0], small);
  if (made.table == nullptr) return;
  const bool computed = made.table->line || made.table->last_before_step;
  if (small || computed || is_in_chain(runs, p) || !made.replaceable) {
    run.own_table = made.table;
  } else {
    program->replace_table();
  }
}

}  // namespace

void prepare_point(PlaneRuns& runs, std::size_t p) {
  PlaneRun& run = runs.nodes[p];
  const PlaneRun& first = runs.nodes[p - runs.graph.nodes[p].channel];  // of channel 0
  // Where the channels' arguments are equal, their programs and tables are.
  const bool same = &first != &run && run.arguments.same_as(first.arguments);
  if (same) {
    run.point = first.point;
    run.own_table = first.own_table;
  } else if (std::get<Point>(run.node->primitive).lookup) {
    run.own_table = given_table(runs, p);
  } else {
    make_program(runs, p);
  }
  if (run.own_table == nullptr) return;
  run.table = run.own_table;
  run.table_source = runs.images_of(p)[0];
  if (run.table_source.external) return;
  const PlaneRun& before = runs.nodes[run.table_source.index];
  if (before.table == nullptr) return;
  run.table_source = before.table_source;
  const Operand& of_first = runs.images_of(p - runs.graph.nodes[p].channel)[0];
  if (same && runs.nodes[of_first.index].table == before.table) {
    run.table = first.table;
  } else {
    run.table = shared(composed(*before.table, *run.own_table));
  }
}

}  // namespace impipe::cpu
