// How the CPU makes a kernel's nodes, in words: what step.cpp does with them.
#include "backends/cpu/node_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/neighbourhood/rank.hpp"
#include "backends/cpu/neighbourhood/separable.hpp"
#include "backends/cpu/simd/level.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

// The two cheapest methods for a tile of a large image, with their costs.
template <class Method>
std::string words_of(const std::vector<Offer<Method>>& offers) {
  const auto words = [](const Offer<Method>& offer) {
    const int digits = offer.cost < 1 ? 2 : offer.cost < 10 ? 1 : 0;
    return fmt::format("{}, {:.{}f} ns a pixel", offer.name, offer.cost, digits);
  };
  return words(offers[0]) + (offers.size() > 1 ? "; next " + words(offers[1]) : "");
}

bool is_measured(const Argument& argument) { return argument.source == Argument::Source::measured; }

// How a rank or a separable sum is made; nothing of other nodes.
std::string method_words(const KernelSpec& spec, const Node& node, CpuLevel level) {
  constexpr std::int64_t width = 2048;  // of a tile of a large image
  const auto* rank = std::get_if<Rank>(&node.primitive);
  if (rank != nullptr && !rank->offsets && !rank->entropy) {
    const Size tile{width, std::max<std::int64_t>(64, 8 * (rank->mask.height - 1))};
    return "; " + words_of(rank_offers({*rank, node.cls, tile, level}));
  }
  if (!std::holds_alternative<Separable>(node.primitive) ||
      std::ranges::any_of(node.arguments, is_measured)) {
    return {};
  }
  const Operand& image = node.images[0];
  const PixelClass cls =
      image.external ? spec.inputs[image.index].cls : spec.nodes[image.index].cls;
  const Arguments arguments = evaluate_arguments(node, {}, {width, width});
  return "; " + words_of(separable_offers({node, arguments, cls, width, level}));
}

}  // namespace

std::vector<NodeForm> node_forms(const KernelSpec& spec) {
  std::vector<NodeForm> forms;
  const bool whole = spec.nodes.size() == 1 && stands_alone(spec.nodes[0].primitive);
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    const Node& node = spec.nodes[n];
    const bool leaves = std::find(spec.outputs.begin(), spec.outputs.end(), static_cast<int>(n)) !=
                        spec.outputs.end();
    const std::string method = method_words(spec, node, cpu_level());
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
      forms.push_back({"tiles, in memory", "it leaves the kernel" + method});
    } else {
      forms.push_back({"tiles, in cache", "its readers take it from there" + method});
    }
  }
  return forms;
}

}  // namespace impipe::cpu
