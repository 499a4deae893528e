// A launch, with the sizes that follow from its inputs'.
#include "backends/jit/text/launch_context.hpp"

#include <utility>

#include "core/primitive_facts.hpp"

namespace impipe::jit {

LaunchContext::LaunchContext(const LaunchValues& values) : values_(values) {
  for (std::size_t i = 0; i < values.inputs.size(); ++i) {
    if (!spec().inputs[i].is_measure && first_.pixels() == 0) first_ = values.inputs[i].size;
  }
  for (const Node& node : spec().nodes) {
    sizes_.push_back(node.images.empty() ? first_ : result_size(node, size_of(node.images[0])));
  }
}

Size LaunchContext::size_of(const Operand& operand) const {
  return operand.external ? values_.inputs[operand.index].size : sizes_[operand.index];
}

double LaunchContext::white_of(const Operand& operand) const {
  return operand.external ? spec().inputs[operand.index].white : spec().nodes[operand.index].white;
}

double LaunchContext::argument(int node, int index) const {
  const Node& from = spec().nodes[node];
  const Argument& argument = from.arguments[index];
  const Size size = from.images.empty() ? sizes_[node] : size_of(from.images[0]);
  return value_of(argument, size);
}

ShapeFunction launch_groups(std::int64_t groups, int items) {
  return [groups, items](const LaunchContext&) {
    return LaunchShape{{groups, 1, 1}, {items, 1, 1}};
  };
}

ShapeFunction launch_items(LaunchNumber count, int items) {
  return [count = std::move(count), items](const LaunchContext& at) {
    return LaunchShape{{(count(at) + items - 1) / items, 1, 1}, {items, 1, 1}};
  };
}

LaunchShape launch_tiles(Size size, std::int64_t across, std::int64_t down, int items) {
  return {{(size.width + across - 1) / across, (size.height + down - 1) / down, 1}, {items, 1, 1}};
}

ShapeFunction launch_tiles(const Operand& image, std::int64_t across, std::int64_t down,
                           int items) {
  return [image, across, down, items](const LaunchContext& at) {
    return launch_tiles(at.size_of(image), across, down, items);
  };
}

}  // namespace impipe::jit
