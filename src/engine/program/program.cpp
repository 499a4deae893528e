// Sizes, lifetimes and memory of a plan's values.
#include "engine/program/program.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "core/error.hpp"
#include "core/host_work.hpp"
#include "core/placement.hpp"
#include "core/plane_bytes.hpp"
#include "core/primitive_facts.hpp"
#include "pipeline/image_sizes.hpp"

namespace impipe::engine {

const Plan& last_plan(const Program& first) {
  const Program* part = &first;
  while (part->then) part = part->then->program.get();
  return part->plan;
}

const Program& part_of(const Program& first, int index) {
  const Program* part = &first;
  for (; index > 0; --index) part = part->then->program.get();
  return *part;
}

namespace {

// The names that `as` and --with gave to values.
std::vector<std::string> names_of_values(const pipeline::Pipeline& pipeline, const Plan& lowered) {
  std::vector<std::string> names(lowered.values.size());
  for (const PlanOperand& operand : lowered.operands) names[operand.value] = ":" + operand.name;
  for (size_t stage = 0; stage < pipeline.stages.size(); ++stage) {
    if (pipeline.stages[stage].keep_as.empty()) continue;
    // What the pipeline carries there: the last image that an earlier stage made.
    ValueId current = 0;
    for (const Step& step : lowered.steps) {
      if (step.stages.front() >= static_cast<int>(stage)) break;
      if (!lowered.values[step.outputs.front()].is_measure) current = step.outputs.front();
    }
    names[current] = ":" + pipeline.stages[stage].keep_as;
  }
  return names;
}

// Values that are read after the last step.
std::set<ValueId> results_of(const Plan& plan) {
  const std::vector<ValueId> written = written_images(plan);
  std::set<ValueId> results(written.begin(), written.end());
  for (const PlanCheck& check : plan.checks) results.insert(check.value);
  for (const ValueId value : reported_values(plan)) results.insert(value);
  for (const ValueId value : object_images(plan)) results.insert(value);
  return results;
}

std::vector<std::vector<ValueId>> lifetimes(const Plan& plan) {
  std::vector<std::vector<ValueId>> dead_after(plan.steps.size());
  std::set<ValueId> read_later = results_of(plan);
  for (size_t s = plan.steps.size(); s-- > 0;) {
    const Step& step = plan.steps[s];
    for (const std::vector<ValueId>& ids : {step.inputs, step.outputs}) {
      for (const ValueId id : ids) {
        if (read_later.insert(id).second) dead_after[s].push_back(id);
      }
    }
  }
  return dead_after;
}

// The sum of what each value counts, of those that live at the same time, at most.
double max_at_once(const Plan& plan, const std::vector<std::vector<ValueId>>& dead_after,
                   const std::function<double(ValueId)>& count) {
  std::set<ValueId> live = {0};
  for (const PlanOperand& operand : plan.operands) {
    live.insert(operand.value);
    if (operand.alpha) live.insert(*operand.alpha);
  }
  if (plan.input_alpha) live.insert(*plan.input_alpha);
  const auto sum_of_live = [&] {
    double sum = 0;
    for (const ValueId id : live) sum += count(id);
    return sum;
  };
  double most = sum_of_live();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    live.insert(plan.steps[s].outputs.begin(), plan.steps[s].outputs.end());
    most = std::max(most, sum_of_live());
    for (const ValueId id : dead_after[s]) live.erase(id);
  }
  return most;
}

std::vector<SizedArgument> take_sized_arguments(const Plan& plan, const Step& step,
                                                PlaneKernel& kernel) {
  std::vector<SizedArgument> sized;
  for (size_t n = 0; n < kernel.spec.nodes.size(); ++n) {
    Node& node = kernel.spec.nodes[n];
    if (!std::holds_alternative<Scalar>(node.primitive)) continue;
    // Measurements are always stored: the node is an output of its step.
    const auto& outputs = kernel.spec.outputs;
    const auto output = std::ranges::find(outputs, static_cast<int>(n));
    const auto place = static_cast<size_t>(output - outputs.begin());
    const ValueId made = step.outputs[static_cast<size_t>(kernel.outputs[place])];
    for (size_t a = 0; a < node.arguments.size(); ++a) {
      Argument& argument = node.arguments[a];
      if (argument.source == Argument::Source::constant ||
          argument.source == Argument::Source::measured) {
        continue;
      }
      sized.push_back({n, a, argument, plan.values[made].measured_image});
      argument = Argument{};
    }
  }
  return sized;
}

// The name of a value, or of the one image that it was made from, whatever is fused.
std::string named_origin(const Program& program, ValueId id) {
  const std::vector<Step>& steps = program.lowered.steps;
  while (program.value_names[id].empty()) {
    const auto maker = std::ranges::find_if(steps, [&](const Step& step) {
      return std::ranges::find(step.outputs, id) != step.outputs.end();
    });
    if (maker == steps.end()) break;
    std::set<ValueId> images;
    for (const ValueId input : maker->inputs) {
      if (!program.lowered.values[input].is_measure) images.insert(input);
    }
    if (images.size() != 1) break;
    id = *images.begin();
  }
  return program.value_names[id];
}

// "imlincomb: the current image is 640x480, :a is 320x240"
[[noreturn]] void fail_unequal(const Program& program, const Step& step, ValueId first,
                               ValueId second, const std::vector<Size>& sizes) {
  // Two images without names: a conversion has made one of them.
  const bool alike = program.value_names[first] == program.value_names[second];
  const auto called = [&](ValueId id) {
    const std::string name = alike ? named_origin(program, id) : program.value_names[id];
    return (name.empty() ? "the current image" : name) + " is " + to_string(sizes[id]);
  };
  throw Error(program.operators[step.stages.front()] + ": " + called(first) + ", " + called(second),
              ExitCode::file_failed);
}

// A look-up table has one value a code.
void check_table(const Program& program, const Step& step, ValueId table,
                 const std::vector<Size>& sizes) {
  const PixelClass cls = program.lowered.values[table].type.cls;
  const auto codes = static_cast<std::int64_t>(class_max(cls)) + 1;
  if (sizes[table].pixels() == codes) return;
  const std::string& name = program.value_names[table];
  throw Error(program.operators[step.stages.front()] + ": the table" +
                  (name.empty() ? "" : " " + name) + " is " + to_string(sizes[table]) + ", a " +
                  std::string(name_of(cls)) + " image needs " + std::to_string(codes) + " values",
              ExitCode::file_failed);
}

}  // namespace

int bytes_per_pixel(const PlanValue& value) {
  if (value.is_measure) return 0;
  return value.type.channels * bytes_of(value.type.cls);
}

ImageBytes image_bytes(const Program& program, const std::vector<Size>& sizes,
                       std::int64_t row_alignment) {
  const Plan& plan = program.plan;
  const auto bytes = [&](ValueId id, std::int64_t alignment) {
    const std::int64_t pixel = bytes_per_pixel(plan.values[id]);
    if (pixel == 0 || sizes[id].width == 0) return 0.0;
    const int channels = plan.values[id].type.channels;
    const std::int64_t row = sizes[id].width * pixel / channels;
    const std::int64_t of_row =
        alignment > 0 ? (row + alignment - 1) / alignment * alignment : plane_stride(row);
    return static_cast<double>(channels * of_row) * static_cast<double>(sizes[id].height);
  };
  ImageBytes out;
  out.on_device =
      max_at_once(plan, program.dead_after, [&](ValueId id) { return bytes(id, row_alignment); });
  out.input = bytes(0, 0);
  out.result = plan.writes_image ? bytes(plan.result, 0) : 0;
  for (const Step& step : plan.steps) {
    const Node& node = step.kernel.nodes.front();
    if (const auto* on_host = std::get_if<OnHost>(&node.primitive)) {
      const Size of = sizes[step.inputs[node.images.front().index]];
      out.tables += on_host->work->bytes_a_pixel * static_cast<double>(of.pixels());
    }
    const auto* resample = std::get_if<Resample>(&node.primitive);
    if (resample == nullptr || resample->kind != Resample::Kind::resize) continue;
    const ResizeAxes axes = resize_axes(node, sizes[step.inputs[node.images.front().index]]);
    for (const ResizeAxis& axis : {axes.x, axes.y}) {
      out.tables += static_cast<double>(axis.to * (axis.taps + 1) * 4);
    }
  }
  return out;
}

Program make_program(const pipeline::Pipeline& pipeline, Plan lowered, Plan plan) {
  Program program;
  program.value_names = names_of_values(pipeline, lowered);
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    program.operators.emplace_back(stage.call ? stage.call->op().name : std::string_view());
  }
  program.dead_after = lifetimes(plan);
  program.bytes_per_pixel = max_at_once(
      plan, program.dead_after, [&](ValueId id) { return bytes_per_pixel(plan.values[id]); });
  program.lowered = std::move(lowered);
  program.plan = std::move(plan);
  for (const Step& step : program.plan.steps) {
    program.planes.push_back(plane_kernel(step.kernel));
    program.sized.push_back(take_sized_arguments(program.plan, step, program.planes.back()));
  }
  return program;
}

bool is_compiling(const PendingKernel& kernel) noexcept {
  return kernel.valid() && kernel.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

void wait_for(const PendingKernel& kernel, const std::function<bool()>& stop) {
  constexpr std::chrono::milliseconds interval{50};
  while (kernel.wait_for(interval) == std::future_status::timeout) {
    if (stop()) throw Error("stopped", ExitCode::file_failed);
  }
  kernel.wait();  // a deferred one is compiled here
}

std::vector<Size> sizes_of(const Program& program, Size input,
                           const std::map<std::string, Size>& operands) {
  const Plan& plan = program.lowered;
  std::vector<Size> sizes(plan.values.size());
  sizes[0] = input;
  if (plan.input_alpha) sizes[*plan.input_alpha] = input;
  for (const PlanOperand& operand : plan.operands) {
    sizes[operand.value] = operands.at(operand.name);
    if (operand.alpha) sizes[*operand.alpha] = sizes[operand.value];
  }
  for (const Step& step : plan.steps) {
    const Node& node = step.kernel.nodes.front();
    const ValueId made = step.outputs.front();
    if (node.images.empty()) {
      sizes[made] = pipeline::size_made(plan, step, sizes);
      continue;
    }
    const auto* point = std::get_if<Point>(&node.primitive);
    const auto* on_host = std::get_if<OnHost>(&node.primitive);
    const bool first_alone =
        (point != nullptr && point->lookup) || (on_host != nullptr && on_host->work->size);
    const size_t compared = first_alone ? 1 : node.images.size();
    const ValueId first = step.inputs[node.images.front().index];
    for (size_t i = 1; i < compared; ++i) {
      const ValueId other = step.inputs[node.images[i].index];
      if (!(sizes[other] == sizes[first])) fail_unequal(program, step, first, other, sizes);
    }
    if (point != nullptr && point->lookup) {
      check_table(program, step, step.inputs[node.images[1].index], sizes);
    }
    sizes[made] = pipeline::size_made(plan, step, sizes);
    if (sizes[made].width < 1 || sizes[made].height < 1) {
      throw Error(program.operators[step.stages.front()] + ": the image is only " +
                      to_string(sizes[first]) + ", so that nothing is left of it",
                  ExitCode::file_failed);
    }
  }
  return sizes;
}

}  // namespace impipe::engine
