// Decides how small a picture may be read, and places its pixels as if it had been read whole.
#include "engine/program/shrunk.hpp"

#include <algorithm>

#include "core/placement.hpp"

namespace impipe::engine {
namespace {

bool reads_input(const Step& step) {
  return std::ranges::find(step.inputs, 0) != step.inputs.end();
}

// The resize that alone reads the input, of a lowered plan; or null.
const Node* first_resize(const Plan& plan) {
  const std::vector<ValueId> written = written_images(plan), objects = object_images(plan);
  for (const auto& ids : {written, objects}) {
    if (std::ranges::find(ids, 0) != ids.end()) return nullptr;
  }
  const auto first = std::ranges::find_if(plan.steps, reads_input);
  if (first == plan.steps.end() || plan.input_alpha) return nullptr;
  if (std::any_of(first + 1, plan.steps.end(), reads_input)) return nullptr;
  const Node& node = first->kernel.nodes.front();
  const auto* resample = std::get_if<Resample>(&node.primitive);
  const bool averages = resample != nullptr && resample->kind == Resample::Kind::resize &&
                        resample->method != Resample::Method::nearest && resample->antialias;
  return averages ? &node : nullptr;
}

}  // namespace

bool begins_with_reduction(const Plan& lowered) { return first_resize(lowered) != nullptr; }

int shrink_for(const Plan& lowered, const io::ImageInfo& info) {
  constexpr double left = 2;  // reduction that the resize does itself
  const Node* resize = first_resize(lowered);
  if (info.format != io::Format::jpeg || resize == nullptr) return 1;
  const ResizeAxes axes = resize_axes(*resize, info.size());
  const double scale = std::max(axes.x.scale, axes.y.scale);
  for (const int by : {8, 4, 2}) {
    // A turn or mirror puts what is left of the last pixel in front, where places are counted from.
    const bool whole = info.stored.width % by == 0 && info.stored.height % by == 0;
    if (scale * by * left <= 1 && (whole || info.orientation == 1)) return by;
  }
  return 1;
}

Plan for_any_scale(Plan lowered) {
  for (Step& step : lowered.steps) {
    if (!reads_input(step)) continue;
    auto* resample = std::get_if<Resample>(&step.kernel.nodes.front().primitive);
    if (resample != nullptr) resample->phases = resample->step = 0;
  }
  return lowered;
}

void set_arguments(Node& resize, const Shrunk& read) {
  const ResizeAxes axes = resize_axes(resize, read.full);
  const double values[] = {static_cast<double>(axes.x.to), static_cast<double>(axes.y.to),
                           read.by * axes.x.scale, read.by * axes.y.scale};
  for (std::size_t i = 0; i < std::size(values); ++i) resize.arguments.at(i).value = values[i];
}

}  // namespace impipe::engine
