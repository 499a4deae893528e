// Scalar nodes as text: the measurements are put side by side, then one work-item runs the body, or
// all of a group do.
#include <algorithm>

#include "backends/jit/measure/measure.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items_alone = 128;

// Whether all work-items of a group run its body.
bool is_by_group(const Builder& builder, int n) {
  return std::get<Scalar>(builder.node(n).primitive).body->by_group &&
         builder.tuning().group_scalars;
}

// Groups that run its body.
int groups_of(const Builder& builder, int n) {
  return is_by_group(builder, n) ? std::get<Scalar>(builder.node(n).primitive).groups : 1;
}

// Work-items of a group that runs its body. Of groups that make as many values as they read each
// has its part of them, and no more work-items than those.
int items_of(const Builder& builder, int n) {
  const Node& node = builder.node(n);
  int items = builder.tuning().wide_histogram_items;
  const std::int64_t groups = groups_of(builder, n);
  if (groups > 1 && node.values == builder.values(node.measures.at(0))) {
    while (items > 128 && items / 2 >= node.values / groups) items /= 2;
  }
  return items;
}

std::string scalar_steps(Builder& builder, int n, int items) {
  const Node& node = builder.node(n);
  const Scalar& scalar = std::get<Scalar>(node.primitive);
  const int groups = groups_of(builder, n);
  const std::string name = Builder::name({false, n});
  const Part& gather_one = part(kernels::scalar, "gather");
  std::string gather, in;
  std::vector<std::string> counts, values;
  std::int64_t total = 0;
  for (const Operand& m : node.measures) {
    const std::int64_t count = builder.values(m);
    counts.push_back(std::to_string(count));
    gather += filled(gather_one, {{"count", std::to_string(count)},
                                  {"items", std::to_string(items)},
                                  {"at", std::to_string(total)},
                                  {"from", builder.measure(m)}});
    total += count;
    // What this kernel makes can be read where it is, and has to be where several groups read it.
    if (node.measures.size() > 1) continue;
    if (!m.external) in = builder.measure(m);
    if (m.external && scalar.groups > 1) in = "(GLOBAL double*)(" + builder.measure(m) + ")";
  }
  int index = 0;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    values.push_back(builder.argument(n, index, "argument_" + std::to_string(index), "double"));
    ++index;
  }
  const std::string body = name + "_" + scalar.body->name;
  std::string parameters =
      "GLOBAL const double* in, const long* count, const double* args, GLOBAL double* out";
  const bool by_group = is_by_group(builder, n);
  if (scalar.body->by_group) {
    parameters += ", const int item, const int items, const int group, const int groups";
    if (by_group) parameters += ", IN_LOCAL double* group_memory";
    write_group_words(builder, by_group);
  }
  // The body returns nothing: its result is in `out`.
  builder.body_once(
      body, after_line(body_function(body, "double", parameters, {}, scalar.body->text, "void")));
  const std::int64_t bytes = std::max<std::int64_t>(total, 1) * 8;
  if (in.empty()) {
    in = builder.scratch(name + "_in", "double", [bytes](const LaunchContext&) { return bytes; });
  } else {
    gather.clear();
  }
  return filled(part(kernels::scalar, "steps"),
                {{"in", in},
                 {"gather", gather},
                 {"inputs", std::to_string(std::max<std::size_t>(counts.size(), 1))},
                 {"counts", counts.empty() ? "0" : joined(counts)},
                 {"arguments", std::to_string(std::max<std::size_t>(values.size(), 1))},
                 {"values", values.empty() ? "0.0" : joined(values)},
                 {"body", body},
                 {"one_item", by_group ? "0" : "1"},
                 {"alone", scalar.body->by_group && !by_group ? ", 0, 1, 0, 1" : ""},
                 {"group", groups > 1 ? "GROUP_X" : "0"},
                 {"groups", std::to_string(groups)},
                 {"items", std::to_string(items)},
                 {"out", builder.measure({false, n})}});
}

}  // namespace

void write_scalar(Builder& builder, int n, LaunchTest wanted) {
  const bool by_group = is_by_group(builder, n);
  const int items = by_group ? items_of(builder, n) : items_alone;
  const std::string memory = by_group ? group_memory(items) : "";
  builder.kernel(
      Builder::name({false, n}) + "_run", items, memory + scalar_steps(builder, n, items),
      [items, groups = groups_of(builder, n), wanted = std::move(wanted)](const LaunchContext& at) {
        const bool runs = !wanted || wanted(at);
        return LaunchShape{{runs ? groups : 0, 1, 1}, {items, 1, 1}};
      });
}

void write_scalars(Builder& builder, const std::vector<int>& nodes) {
  std::string text;
  for (const int n : nodes) text += scalar_steps(builder, n, items_alone);
  builder.kernel(Builder::name({false, nodes.front()}) + "_run", items_alone, text,
                 launch_groups(1, items_alone));
}

void write_group_words(Builder& builder, bool by_group) {
  const bool exchanges = by_group && builder.features().exchanges;
  builder.body_once("group_words",
                    after_line(filled(part(exchanges ? kernels::scalar_sub_groups : kernels::scalar,
                                           by_group ? "group" : "alone"))));
}

std::string group_memory(int items) { return array_of("LOCAL double", "group_memory", items); }

bool any_by_group(const Builder& builder, const std::vector<int>& scalars) {
  return std::any_of(scalars.begin(), scalars.end(),
                     [&](int n) { return is_by_group(builder, n); });
}

std::string scalars_at_end(Builder& builder, const std::vector<int>& scalars, int items) {
  std::string text = scalars.empty() ? "" : statement("GLOBAL_BARRIER");
  for (const int n : scalars) text += scalar_steps(builder, n, items);
  return text;
}

}  // namespace impipe::jit
