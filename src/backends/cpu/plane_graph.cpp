// Channels of images become planes, and points that mix channels points of several planes.
#include "backends/cpu/plane_graph.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include "core/expression.hpp"

namespace impipe::cpu {
namespace {

// Variables of an expression that are no image's.
bool is_place(std::string_view name) {
  return name == "col" || name == "row" || name == "width" || name == "height" || name == "white";
}

bool reads(const Expression& expression, int variable) {
  return std::any_of(expression.nodes().begin(), expression.nodes().end(),
                     [&](const ExpressionNode& node) {
                       return node.op == ExpressionOp::variable && node.index == variable;
                     });
}

class Expansion {
 public:
  explicit Expansion(const KernelSpec& spec) : spec_(spec) {}

  PlaneGraph run() {
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      first_of_input_.push_back(static_cast<int>(graph_.inputs.size()));
      if (spec_.inputs[i].is_measure) continue;
      for (int c = 0; c < spec_.inputs[i].channels; ++c) {
        graph_.inputs.push_back({static_cast<int>(i), c});
      }
    }
    for (std::size_t n = 0; n < spec_.nodes.size(); ++n) {
      const Node& node = spec_.nodes[n];
      graph_.first_of_node.push_back(static_cast<int>(graph_.nodes.size()));
      graph_.channels.push_back(std::holds_alternative<Scalar>(node.primitive) ? 0
                                : node.is_measure ? channels_of(node.images[0])
                                                  : node.channels);
      for (int c = 0; c < graph_.channels.back(); ++c) {
        graph_.nodes.push_back({static_cast<int>(n), c, planes_of(node, c), 0});
      }
    }
    find_groups();
    return std::move(graph_);
  }

 private:
  int channels_of(const Operand& image) const {
    return image.external ? spec_.inputs[image.index].channels : graph_.channels[image.index];
  }

  // An image of one channel is read by all.
  Operand plane_of(const Operand& image, int channel) const {
    const int first =
        image.external ? first_of_input_[image.index] : graph_.first_of_node[image.index];
    return {image.external, first + std::min(channel, channels_of(image) - 1)};
  }

  std::vector<Operand> planes_of(const Node& node, int channel) const {
    std::vector<Operand> planes;
    const auto* point = std::get_if<Point>(&node.primitive);
    if (point == nullptr || !point->mixes_channels) {
      for (const Operand& image : node.images) planes.push_back(plane_of(image, channel));
    } else if (point->expression == nullptr) {
      for (int c = 0; c < point->body->inputs; ++c) planes.push_back(plane_of(node.images[0], c));
    } else {
      return planes_of(*point->expression, node.images, channel);
    }
    return planes;
  }

  // Those of an expression's variables: r, g, b are channels of the first image.
  std::vector<Operand> planes_of(const Expression& expression, std::span<const Operand> images,
                                 int channel) const {
    std::vector<Operand> planes;
    std::size_t next = 1;  // the next image that is named
    for (std::size_t v = 0; v < expression.variables().size(); ++v) {
      const std::string& name = expression.variables()[v];
      constexpr std::string_view channels = "rgb";
      const bool named = name.size() == 1 && channels.find(name) != channels.npos;
      if (is_place(name)) continue;
      if (name == "x" || (named && !reads(expression, static_cast<int>(v)))) {
        planes.push_back(plane_of(images[0], channel));
      } else if (named) {
        planes.push_back(plane_of(images[0], static_cast<int>(channels.find(name))));
      } else {
        planes.push_back(plane_of(images[next++], channel));
      }
    }
    return planes;
  }

  // A table for all channels is read before there are tiles.
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
