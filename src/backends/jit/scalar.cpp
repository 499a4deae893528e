// Scalar nodes as text: the measurements are put side by side, then one work-item runs the body.
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;

constexpr const char* scalar_kernel = R"(  const int c = GROUP_X;
  GLOBAL double* in = $in + c * $total;
$gather  GLOBAL_BARRIER;
  if (ITEM != 0) return;
  const long count[$inputs] = {$counts};
  const double args[$arguments] = {$values};
  $body(in, count, args, $out + c * $results);
)";

}  // namespace

void write_scalar(Builder& to, int n) {
  const Node& node = to.node(n);
  const Scalar& scalar = std::get<Scalar>(node.primitive);
  const std::string name = Builder::name({false, n});
  const int channels = node.channels;
  std::string gather;
  std::vector<std::string> counts, values;
  std::int64_t total = 0;
  for (const Operand& m : node.measures) {
    const int has = to.channels(m);
    // One channel takes everything; else each takes its own.
    const bool all = channels == 1 || has != channels;
    const std::int64_t count = to.values(m) * (all ? has : 1);
    gather +=
        filled("  for (int i = ITEM; i < $count; i += $items) in[$at + i] = $from[$own + i];\n",
               {{"count", std::to_string(count)},
                {"items", std::to_string(items)},
                {"at", std::to_string(total)},
                {"from", to.measure(m)},
                {"own", all ? "0" : "c * " + std::to_string(count)}});
    counts.push_back(std::to_string(count));
    total += count;
  }
  int index = 0;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    values.push_back(to.argument(n, index, "argument_" + std::to_string(index), "double", "c"));
    ++index;
  }
  const std::string body = name + "_" + scalar.body->name;
  std::string text = body_function(
      body, "double",
      "GLOBAL const double* in, const long* count, const double* args, GLOBAL double* out", {},
      scalar.body->text);
  // The body returns nothing: its result is in `out`.
  text.replace(text.find("FUNCTION double"), 15, "FUNCTION void");
  to.body("\n" + text);
  const std::int64_t bytes = std::max<std::int64_t>(total, 1) * channels * 8;
  const std::string in =
      to.scratch(name + "_in", "double", [bytes](const LaunchContext&) { return bytes; });
  to.kernel(
      name + "_run", items,
      filled(scalar_kernel, {{"in", in},
                             {"total", std::to_string(total)},
                             {"gather", gather},
                             {"inputs", std::to_string(std::max<std::size_t>(counts.size(), 1))},
                             {"counts", counts.empty() ? "0" : joined(counts)},
                             {"arguments", std::to_string(std::max<std::size_t>(values.size(), 1))},
                             {"values", values.empty() ? "0.0" : joined(values)},
                             {"body", body},
                             {"out", to.measure({false, n})},
                             {"results", std::to_string(node.values)}}),
      [channels](const LaunchContext&) {
        return LaunchShape{{channels, 1, 1}, {items, 1, 1}};
      });
}

}  // namespace impipe::jit
