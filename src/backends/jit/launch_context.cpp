// A launch, with the sizes that follow from its inputs'.
#include <algorithm>
#include <cmath>

#include "backends/jit/builder.hpp"

namespace impipe::jit {

std::int64_t row_bytes(PixelClass cls, int channels, Size size) {
  const std::int64_t bytes = size.width * channels * bytes_of(cls);
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

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
  const double pixels = static_cast<double>(size.pixels());
  switch (argument.source) {
    case Argument::Source::width: return static_cast<double>(size.width);
    case Argument::Source::height: return static_cast<double>(size.height);
    case Argument::Source::pixels: return pixels;
    case Argument::Source::rank_floor:
      return std::min(std::floor(argument.value * pixels), pixels - 1);
    case Argument::Source::rank_ceil: return std::max(std::ceil(argument.value * pixels) - 1, 0.0);
    case Argument::Source::constant:
    case Argument::Source::measured: break;
  }
  return argument.value;
}

}  // namespace impipe::jit
