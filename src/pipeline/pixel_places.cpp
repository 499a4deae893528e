// Composes the maps of a lowered plan's steps.
#include "pipeline/pixel_places.hpp"

#include "core/placement.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::pipeline {
namespace {

using Place = std::optional<AffinePlace>;

// The place in a node's image of each pixel of its result.
struct PlaceInImage {
  const Node& node;
  Size image, result;
  bool is_geometric;  // of an operator that moves the image

  Place operator()(const Permute& p) const {
    return permuted_place(p.transpose, p.flip_x, p.flip_y, result);
  }
  Place operator()(const Window& w) const {
    const WindowPlace at = window_place(node, image);
    const bool wraps = w.border == Border::circular && (at.left != 0 || at.top != 0);
    return wraps ? Place() : shifted(at.left, at.top);
  }
  Place operator()(const Stencil&) const { return filtered(); }
  Place operator()(const Separable&) const { return filtered(); }
  Place operator()(const Resample& r) const {
    if (r.kind == Resample::Kind::projective) return {};
    if (r.kind == Resample::Kind::affine) return affine_place(node, image);
    const ResizeAxes axes = resize_axes(node, image);
    const auto first = [](double scale) { return 0.5 / scale - 0.5; };
    return AffinePlace{1 / axes.x.scale,   0, first(axes.x.scale), 0, 1 / axes.y.scale,
                       first(axes.y.scale)};
  }
  template <class Other>
  Place operator()(const Other&) const {
    return facts_of(node).moves ? Place() : Place(AffinePlace{});
  }

 private:
  static Place shifted(std::int64_t x, std::int64_t y) {
    return AffinePlace{1, 0, static_cast<double>(x), 0, 1, static_cast<double>(y)};
  }
  // Weights of an operator that moves the image have a part of a pixel in them (imtranslate).
  Place filtered() const {
    const PrimitiveFacts facts = facts_of(node);
    return is_geometric ? Place() : shifted(facts.shift_x, facts.shift_y);
  }
};

}  // namespace

std::vector<Place> pixel_places(const Pipeline& pipeline, const Plan& lowered,
                                const std::vector<Size>& sizes) {
  std::vector<Place> places(lowered.values.size());
  std::vector<bool> is_of_input(lowered.values.size());
  const auto begin = [&](ValueId value) {
    places[static_cast<size_t>(value)] = AffinePlace{};
    is_of_input[static_cast<size_t>(value)] = true;
  };
  begin(0);
  if (lowered.input_alpha) begin(*lowered.input_alpha);
  for (const Step& step : lowered.steps) {
    const Node& node = step.kernel.nodes.front();
    const auto made = static_cast<size_t>(step.outputs.front());
    const BoundStage& stage = pipeline.stages.at(static_cast<size_t>(step.stages.front()));
    const bool is_geometric = stage.call && stage.call->op().category == "geometry";
    for (const impipe::Operand& operand : node.images) {
      const auto image = static_cast<size_t>(step.inputs[static_cast<size_t>(operand.index)]);
      if (!is_of_input[image]) continue;
      const Place in_image =
          std::visit(PlaceInImage{node, sizes[image], sizes[made], is_geometric}, node.primitive);
      const Place place = in_image && places[image] ? composed(*places[image], *in_image) : Place();
      // Pixels that are made of several places have none.
      places[made] = is_of_input[made] && places[made] != place ? Place() : place;
      is_of_input[made] = true;
    }
  }
  return places;
}

}  // namespace impipe::pipeline
