// Walks the steps of a plan: allocates what each makes, launches it, lets go of what is no longer
// read, and brings the results back to the host.
#include "engine/executor.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace impipe::engine {
namespace {

// The value of a size argument of a Scalar, which has no image of its own.
double sized_value(const Argument& argument, Size size) {
  const auto pixels = static_cast<double>(size.pixels());
  switch (argument.source) {
    case Argument::Source::width:
      return static_cast<double>(size.width);
    case Argument::Source::height:
      return static_cast<double>(size.height);
    case Argument::Source::pixels:
      return pixels;
    case Argument::Source::rank_floor:
      return std::min(std::floor(argument.value * pixels), pixels - 1);
    case Argument::Source::rank_ceil:
      return std::max(std::ceil(argument.value * pixels) - 1, 0.0);
    case Argument::Source::constant:
    case Argument::Source::measured:
      break;
  }
  return argument.value;
}

// The alpha plane after the steps of the stages before `stage`.
Plane carry_alpha(const Plan& plan, int stage, const Plane& alpha, Queue& queue,
                  const KernelSource& kernels) {
  std::shared_ptr<DevicePlane> carried;
  for (const AlphaStep& step : plan.alpha) {
    if (step.stage >= stage) break;
    if (!carried) carried = queue.upload(alpha);
    KernelSpec spec;
    spec.inputs.push_back({.cls = alpha.cls(), .channels = 1, .white = class_max(alpha.cls())});
    spec.nodes.push_back(step.node);
    spec.nodes.front().cls = alpha.cls();
    spec.nodes.front().channels = 1;
    spec.nodes.front().white = class_max(alpha.cls());
    spec.outputs = {0};
    auto made = queue.allocate(alpha.cls(), 1, result_size(step.node, carried->size()));
    const auto kernel = kernels(spec);
    queue.run(*kernel,
              {.spec = &spec, .inputs = {{carried, nullptr}}, .outputs = {{made, nullptr}}});
    carried = std::move(made);
  }
  return carried ? queue.download(*carried) : alpha;
}

class Execution {
 public:
  Execution(const Program& program, Queue& queue, const KernelSource& kernels,
            const ExecuteOptions& options)
      : program_(program),
        plan_(program.plan),
        queue_(queue),
        kernels_(kernels),
        options_(options),
        values_(plan_.values.size()) {}

  Outcome run(Material material) {
    std::map<std::string, Size> operand_sizes;
    for (const auto& [name, image] : material.operands) operand_sizes[name] = image.size();
    sizes_ = sizes_of(program_, material.image.size(), operand_sizes);
    const Plane alpha = std::move(material.image.alpha);
    double start = now();
    upload(std::move(material));
    outcome_.transfer_seconds += now() - start;
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      if (options_.stop()) throw Error("stopped", ExitCode::file_failed);
      start = now();
      launch_step(program_, s, sizes_, values_, queue_);
      if (options_.timed) {
        outcome_.step_seconds.push_back(now() - start);
        outcome_.step_bytes.push_back(bytes_moved(plan_.steps[s]));
      }
      for (const ValueId id : program_.dead_after[s]) values_[id] = {};
    }
    start = now();
    collect(alpha);
    outcome_.transfer_seconds += now() - start;
    return std::move(outcome_);
  }

 private:
  double now() { return options_.timed ? queue_.time() : 0; }

  double bytes_moved(const Step& step) const {
    double bytes = 0;
    for (const std::vector<ValueId>& ids : {step.inputs, step.outputs}) {
      for (const ValueId id : ids) {
        bytes += static_cast<double>(sizes_[id].pixels() * bytes_per_pixel(plan_.values[id]));
      }
    }
    return bytes;
  }

  void upload(Material material) {
    const std::vector<bool> read = values_read(plan_);
    if (read[0]) values_[0].plane = queue_.upload(material.image.pixels);
    for (const PlanOperand& operand : plan_.operands) {
      if (!read[operand.value]) continue;
      values_[operand.value].plane = queue_.upload(material.operands.at(operand.name).pixels);
    }
  }

  HostImage image_of(ValueId id, bool with_alpha, int stage, const Plane& alpha) {
    HostImage image;
    image.type = plan_.values[id].type;
    image.pixels = queue_.download(*values_[id].plane);
    image.type.alpha = with_alpha && !alpha.empty();
    if (image.type.alpha) image.alpha = carry_alpha(plan_, stage, alpha, queue_, kernels_);
    return image;
  }

  void collect(const Plane& alpha) {
    std::map<ValueId, std::vector<double>> downloaded;
    const auto numbers = [&](ValueId id) -> const std::vector<double>& {
      auto found = downloaded.find(id);
      if (found == downloaded.end()) {
        found = downloaded.emplace(id, queue_.download(*values_[id].measure)).first;
      }
      return found->second;
    };
    for (const PlanColumn& column : plan_.columns) {
      const PlanValue& value = plan_.values[column.value];
      outcome_.columns.push_back(
          numbers(column.value)[column.channel * value.values + column.element]);
    }
    if (plan_.last_measurement) {
      const PlanValue& value = plan_.values[*plan_.last_measurement];
      outcome_.last_measurement = {value.channels, value.values, numbers(*plan_.last_measurement),
                                   plan_.last_measurement_columns};
    }
    for (const PlanSave& save : plan_.saves) {
      outcome_.saves.push_back(image_of(save.value, save.alpha, save.stage, alpha));
    }
    if (plan_.writes_image) {
      const auto stages = static_cast<int>(program_.operators.size());
      outcome_.image = image_of(plan_.result, plan_.values[plan_.result].type.alpha, stages, alpha);
    }
  }

  const Program& program_;
  const Plan& plan_;
  Queue& queue_;
  const KernelSource& kernels_;
  const ExecuteOptions& options_;
  std::vector<DeviceValue> values_;
  std::vector<Size> sizes_;
  Outcome outcome_;
};

}  // namespace

std::vector<bool> values_read(const Plan& plan) {
  std::vector<bool> read(plan.values.size());
  for (const Step& step : plan.steps) {
    for (const ValueId id : step.inputs) read[id] = true;
  }
  for (const PlanSave& save : plan.saves) read[save.value] = true;
  read[plan.result] = read[plan.result] || plan.writes_image;
  return read;
}

void launch_step(const Program& program, size_t step, const std::vector<Size>& sizes,
                 std::vector<DeviceValue>& values, Queue& queue) {
  const Plan& plan = program.plan;
  const Step& what = plan.steps[step];
  Launch launch{.spec = &what.kernel, .inputs = {}, .outputs = {}};
  for (const ValueId id : what.inputs) launch.inputs.push_back(values[id]);
  for (const ValueId id : what.outputs) {
    const PlanValue& value = plan.values[id];
    DeviceValue& made = values[id];
    if (value.is_measure && !made.measure) {
      made.measure = queue.allocate_measure(value.channels, value.values);
    } else if (!value.is_measure && !made.plane) {
      made.plane = queue.allocate(value.type.cls, value.type.channels, sizes[id]);
    }
    launch.outputs.push_back(made);
  }
  KernelSpec sized;
  if (!program.sized[step].empty()) {
    sized = what.kernel;
    for (const SizedArgument& argument : program.sized[step]) {
      sized.nodes[argument.node].arguments[argument.place].value =
          sized_value(argument.argument, sizes[argument.image]);
    }
    launch.spec = &sized;
  }
  queue.run(*program.kernels[step], launch);
}

Outcome execute(const Program& program, Material material, Queue& queue,
                const KernelSource& kernels, const ExecuteOptions& options) {
  return Execution(program, queue, kernels, options).run(std::move(material));
}

}  // namespace impipe::engine
