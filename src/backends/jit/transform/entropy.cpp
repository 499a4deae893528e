// Entropy of windows as text.
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 64, run = 32;
// Cells that come of which compilers write out all by themselves, which is best; of more they write
// out none.
constexpr int max_moves = 9;

// dx, dy of the cells, of those that come when the window moves by a column, and of those that go.
struct Offsets {
  int cells = 0, comes = 0;
  std::vector<double> values;
};

Offsets offsets_of(const Mask& mask) {
  Offsets out;
  std::vector<double> parts[3];
  const auto add = [&](int k, int x, int y) {
    parts[k].push_back(x - mask.origin_x);
    parts[k].push_back(y - mask.origin_y);
  };
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      add(0, x, y);
      if (x + 1 == mask.width || !mask.at(x + 1, y)) add(1, x, y);
      if (x == 0 || !mask.at(x - 1, y)) add(2, x, y);
    }
  }
  out.cells = static_cast<int>(parts[0].size() / 2);
  out.comes = static_cast<int>(parts[1].size() / 2);
  for (const auto& one : parts) out.values.insert(out.values.end(), one.begin(), one.end());
  return out;
}

}  // namespace

void write_entropy(Builder& to, int n) {
  const Node& node = to.node(n);
  const Operand self{false, n}, image = node.images[0];
  const std::string name = Builder::name(self);
  const Offsets offsets = offsets_of(std::get<Entropy>(node.primitive).mask);
  const std::string table =
      to.table(ParameterType::float64, name + "_table", [n](const LaunchContext& at) {
        std::vector<double> out;
        const Node& now = at.spec().nodes[static_cast<std::size_t>(n)];
        for (std::size_t k = 0; k < now.arguments.size(); ++k) {
          out.push_back(at.argument(n, static_cast<int>(k)));
        }
        return out;
      });
  const std::string places =
      to.table(ParameterType::int32, name + "_offsets",
               [values = offsets.values](const LaunchContext&) { return values; });
  const std::string some = to.tuning().unroll ? unroll_pragma(8) : "";
  to.kernel(name + "_entropy", items,
            filled(part(kernels::entropy, "entropy"),
                   {{"items", std::to_string(items)},
                    {"run", std::to_string(run)},
                    {"unroll_some", some},
                    {"unroll_moves", offsets.comes <= max_moves ? "" : some},
                    {"width", to.width(image)},
                    {"height", to.height(image)},
                    {"cells", std::to_string(offsets.cells)},
                    {"comes", std::to_string(offsets.comes)},
                    {"pixel", "(uint)" + to.value(image, "column", "row")},
                    {"table", table},
                    {"offsets", places},
                    {"out", to.plane(self).pixel()}}),
            [image](const LaunchContext& at) {
              const Size size = at.size_of(image);
              const std::int64_t each = items * run;
              return LaunchShape{{(size.width + each - 1) / each, size.height, 1}, {items, 1, 1}};
            });
}

}  // namespace impipe::jit
