// A kernel's nodes, once for each plane of a launch.
#include "backends/cpu/plane_graph.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace impipe::cpu {
namespace {

class Expansion {
 public:
  explicit Expansion(const KernelSpec& spec) : spec_(spec) {}

  PlaneGraph run() {
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      first_of_input_.push_back(static_cast<int>(graph_.inputs.size()));
      if (spec_.inputs[i].is_measure) continue;
      const int channel = spec_.inputs[i].channel;
      if (channel != own_channel) {
        graph_.inputs.push_back({static_cast<int>(i), std::max(channel, 0)});
        continue;
      }
      for (int c = 0; c < spec_.planes; ++c) graph_.inputs.push_back({static_cast<int>(i), c});
    }
    for (std::size_t n = 0; n < spec_.nodes.size(); ++n) {
      const Node& node = spec_.nodes[n];
      graph_.first_of_node.push_back(static_cast<int>(graph_.nodes.size()));
      if (std::holds_alternative<Scalar>(node.primitive)) continue;
      for (int c = 0; c < spec_.planes; ++c) {
        graph_.nodes.push_back({static_cast<int>(n), c, planes_of(node, c), 0});
      }
    }
    find_groups();
    return std::move(graph_);
  }

 private:
  Operand plane_of(const Operand& image, int plane) const {
    if (!image.external) return {false, graph_.first_of_node[image.index] + plane};
    const bool own = spec_.inputs[image.index].channel == own_channel;
    return {true, first_of_input_[image.index] + (own ? plane : 0)};
  }

  std::vector<Operand> planes_of(const Node& node, int plane) const {
    std::vector<Operand> planes;
    for (const Operand& image : node.images) planes.push_back(plane_of(image, plane));
    return planes;
  }

  // A table for all planes is read before there are tiles.
  std::span<const Operand> read_in_tiles(const PlaneNode& plane) const {
    const auto* point = std::get_if<Point>(&spec_.nodes[plane.node].primitive);
    const std::span<const Operand> images = plane.images;
    return point != nullptr && point->lookup ? images.first(1) : images;
  }

  // Numbers the connected parts of the graph.
  void find_groups() {
    const std::size_t inputs = graph_.inputs.size();
    std::vector<std::size_t> leads(inputs + graph_.nodes.size());  // to another of its group
    std::iota(leads.begin(), leads.end(), std::size_t{0});
    const auto leader = [&](std::size_t i) {
      while (leads[i] != i) i = leads[i];
      return i;
    };
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const Operand& plane : read_in_tiles(graph_.nodes[n])) {
        const auto read = static_cast<std::size_t>(plane.index) + (plane.external ? 0 : inputs);
        leads[leader(inputs + n)] = leader(read);
      }
    }
    std::vector<int> numbers(leads.size(), -1);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      int& number = numbers[leader(inputs + n)];
      if (number < 0) number = graph_.groups++;
      graph_.nodes[n].group = number;
    }
  }

  const KernelSpec& spec_;
  PlaneGraph graph_;
  std::vector<int> first_of_input_;
};

}  // namespace

PlaneGraph plane_graph(const KernelSpec& spec) { return Expansion(spec).run(); }

}  // namespace impipe::cpu
