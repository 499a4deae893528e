// How the CPU makes a kernel's nodes, in words: what step.cpp does with them.
#include "backends/cpu/node_forms.hpp"

#include <algorithm>

#include "core/primitive_facts.hpp"

namespace impipe::cpu {

std::vector<NodeForm> node_forms(const KernelSpec& spec) {
  std::vector<NodeForm> forms;
  const bool whole = spec.nodes.size() == 1 && stands_alone(spec.nodes[0].primitive);
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    const Node& node = spec.nodes[n];
    const bool leaves = std::find(spec.outputs.begin(), spec.outputs.end(), static_cast<int>(n)) !=
                        spec.outputs.end();
    if (std::holds_alternative<Scalar>(node.primitive)) {
      forms.push_back({"once", "it computes with measurements"});
    } else if (node.is_measure && stands_alone(node.primitive)) {
      forms.push_back({"over all tiles' pixels", "it needs them side by side"});
    } else if (node.is_measure) {
      forms.push_back(
          {"of each tile", "the measurements of tiles are put together in their order"});
    } else if (whole) {
      forms.push_back({"whole image", "it needs its image as a whole"});
    } else if (leaves) {
      forms.push_back({"tiles, in memory", "it leaves the kernel"});
    } else {
      forms.push_back({"tiles, in cache", "its readers take it from there"});
    }
  }
  return forms;
}

}  // namespace impipe::cpu
