// Walks a lowered plan with sizes alone.
#include "pipeline/image_sizes.hpp"

#include "core/error.hpp"
#include "core/host_work.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::pipeline {
namespace {

// As of pictures that are read: 32 bits count the bytes of any row.
constexpr std::int64_t largest_side = (std::int64_t{1} << 24) - 1;

}  // namespace

void check_size(const Pipeline& pipeline, int stage, Size size, std::int64_t max_pixels) {
  std::string limit;
  if (size.width > largest_side || size.height > largest_side) {
    limit = "a side has at most " + std::to_string(largest_side);
  } else if (size.pixels() > max_pixels) {
    limit = "--max-pixels allows " + std::to_string(max_pixels);
  } else {
    return;
  }
  const BoundStage& bound = pipeline.stages.at(static_cast<std::size_t>(stage));
  throw error_at(pipeline.text, bound.span,
                 std::string(bound.call->op().name) + ": the image would have " + to_string(size) +
                     " pixels; " + limit,
                 pipeline.origin);
}

Size size_made(const Plan& lowered, const Step& step, const std::vector<Size>& sizes) {
  const Node& node = step.kernel.nodes.front();
  if (node.images.empty()) return sizes[lowered.values[step.outputs.front()].measured_image];
  const Size first = sizes[step.inputs[node.images.front().index]];
  if (node.is_measure) return first;
  const auto* on_host = std::get_if<OnHost>(&node.primitive);
  if (on_host == nullptr || !on_host->work->size) return result_size(node, first);
  std::vector<Size> of;
  for (const impipe::Operand& image : node.images) {
    of.push_back(
        sizes[static_cast<std::size_t>(step.inputs[static_cast<std::size_t>(image.index)])]);
  }
  return on_host->work->size(of);
}

std::vector<Size> planned_sizes(const Pipeline& pipeline, const Plan& lowered, Size input,
                                const std::map<std::string, Size>& operands,
                                std::int64_t max_pixels) {
  std::vector<Size> sizes(lowered.values.size());
  sizes[0] = input;
  if (lowered.input_alpha) sizes[*lowered.input_alpha] = input;
  for (const PlanOperand& operand : lowered.operands) {
    if (const auto size = operands.find(operand.name); size != operands.end()) {
      sizes[operand.value] = size->second;
      if (operand.alpha) sizes[*operand.alpha] = size->second;
    }
  }
  if (input.pixels() > max_pixels) return sizes;  // refused where it is read
  for (const Step& step : lowered.steps) {
    const Size size = size_made(lowered, step, sizes);
    if (size.width < 1 || size.height < 1) break;
    // Every image that comes after is made from one that was checked, so that no size overflows.
    check_size(pipeline, step.stages.front(), size, max_pixels);
    sizes[step.outputs.front()] = size;
  }
  return sizes;
}

MadeImage checked_source(const Pipeline& pipeline, std::int64_t max_pixels) {
  const MadeImage made = pipeline.describe_source();
  check_size(pipeline, 0, made.size, max_pixels);
  return made;
}

}  // namespace impipe::pipeline
