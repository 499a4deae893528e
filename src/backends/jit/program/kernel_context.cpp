// A kernel's spec with the dialect and the numbers of the device.
#include "backends/jit/program/kernel_context.hpp"

#include <algorithm>

#include "core/body_tree.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {

PixelClass KernelContext::cls(const Operand& operand) const {
  return operand.external ? spec.inputs[static_cast<std::size_t>(operand.index)].cls
                          : node(operand.index).cls;
}

int KernelContext::output_of(int n) const {
  const auto it = std::find(spec.outputs.begin(), spec.outputs.end(), n);
  return it == spec.outputs.end() ? -1 : static_cast<int>(it - spec.outputs.begin());
}

std::vector<int> KernelContext::readers_of(int n) const {
  std::vector<int> readers;
  for (int r = 0; r < count(); ++r) {
    const std::vector<Operand>& images = node(r).images;
    const auto times = std::count(images.begin(), images.end(), Operand{false, n});
    readers.insert(readers.end(), static_cast<std::size_t>(times), r);
  }
  return readers;
}

std::string name_of(const Operand& operand) {
  return (operand.external ? "in" : "n") + std::to_string(operand.index);
}

bool sums_codes(const KernelContext& of, int n) {
  const auto* separable = as<Separable>(of.node(n));
  return separable != nullptr && separable->any_order && is_integer(of.cls(of.node(n).images[0]));
}

std::span<const Operand> pixel_images(const Node& node) {
  const auto* point = as<Point>(node);
  const std::span<const Operand> images = node.images;
  return point != nullptr && point->lookup ? images.first(1) : images;
}

namespace {

// Whether floats hold all that a body makes of codes: sums and differences of some of them.
bool is_whole_sum(const BodyTree& tree) {
  using Kind = BodyTree::Kind;
  if (tree.kind == Kind::number) return tree.number == 0 || tree.number == 1;
  const bool sum = tree.kind == Kind::sum || tree.kind == Kind::difference ||
                   (tree.kind == Kind::call && tree.name == "abs");
  return tree.kind == Kind::name || (sum && std::ranges::all_of(tree.parts, is_whole_sum));
}

bool makes_whole_sums(const Point& point) {
  if (point.body == nullptr || !names_in(point.body->parameter_names).empty()) return false;
  const std::optional<BodyTrees> trees = whole_body(point.body->text);
  return trees && trees->locals.empty() && is_whole_sum(trees->result);
}

}  // namespace

bool in_double(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const Point& point = std::get<Point>(node.primitive);
  if (point.in_double) return true;
  return is_integer(node.cls) &&
         std::ranges::all_of(node.images,
                             [&](const Operand& image) { return is_integer(of.cls(image)); }) &&
         !makes_whole_sums(point);
}

bool reads_again(const Node& node) {
  return facts_of(node).reads_around || as<Select>(node) != nullptr;
}

bool moves(const Node& node) {
  const auto* permute = as<Permute>(node);
  return as<Window>(node) != nullptr || (permute != nullptr && !permute->transpose);
}

}  // namespace impipe::jit
