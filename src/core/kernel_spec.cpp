// Names, sizes and keys of kernels.
#include "core/kernel_spec.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/placement.hpp"

namespace impipe {

std::string_view name_of(Border border) {
  switch (border) {
    case Border::constant: return "constant";
    case Border::replicate: return "replicate";
    case Border::symmetric: return "symmetric";
    case Border::circular: return "circular";
    case Border::absent: return "absent";
  }
  return "?";
}

std::string_view name_of(const Primitive& primitive) {
  static constexpr std::string_view names[] = {
      "point",       "permute",   "stencil", "separable", "extremum", "rank",
      "reduce",      "histogram", "select",  "scalar",    "distance", "project",
      "backproject", "diffuse",   "label",   "resample",  "window"};
  static_assert(std::size(names) == std::variant_size_v<Primitive>);
  return names[primitive.index()];
}

bool stands_alone(const Primitive& primitive) {
  return std::holds_alternative<Select>(primitive) ||
         (primitive.index() >= Primitive(Distance{}).index() &&
          !std::holds_alternative<Window>(primitive));
}

bool Mask::full() const {
  return std::all_of(cells.begin(), cells.end(), [](std::uint8_t c) { return c != 0; });
}

int Mask::count() const {
  return static_cast<int>(
      std::count_if(cells.begin(), cells.end(), [](std::uint8_t c) { return c != 0; }));
}

Footprint Stencil::footprint() const {
  return body != nullptr ? body->footprint : taps.footprint();
}

Footprint Separable::footprint() const {
  const Footprint r = row.footprint(), c = column.footprint();
  return {r.left, r.right, c.up, c.down};
}

Size result_size(const Node& node, Size input) {
  if (const auto* p = std::get_if<Permute>(&node.primitive); p != nullptr && p->transpose) {
    return {input.height, input.width};
  }
  if (std::holds_alternative<Window>(node.primitive)) return window_place(node, input).size;
  if (std::holds_alternative<Resample>(node.primitive)) return resampled_size(node, input);
  if (const auto* s = std::get_if<Stencil>(&node.primitive)) {
    return {input.width + s->grow_x, input.height + s->grow_y};
  }
  if (const auto* s = std::get_if<Separable>(&node.primitive)) {
    return {input.width + s->grow_x, input.height + s->grow_y};
  }
  if (const auto* project = std::get_if<Project>(&node.primitive)) {
    const double diagonal = std::sqrt(static_cast<double>(input.width) * input.width +
                                      static_cast<double>(input.height) * input.height);
    return {project->angles, 2 * static_cast<std::int64_t>(std::ceil(diagonal / 2 + 1)) + 1};
  }
  if (std::holds_alternative<Backproject>(node.primitive)) {
    std::int64_t side = static_cast<std::int64_t>(node.arguments.back().value);
    if (side == 0) {
      const double rows = static_cast<double>(input.height);
      side = 2 * static_cast<std::int64_t>(std::floor(rows / (2 * std::numbers::sqrt2)));
    }
    return {side, side};
  }
  return input;
}

}  // namespace impipe
