// Walks the steps of a plan: allocates what each makes, launches it, lets go of what is no longer
// read, and brings the results back to the host.
#include "engine/program/executor.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/host_work.hpp"
#include "core/object_table.hpp"
#include "core/primitive_facts.hpp"
#include "engine/program/device_stack.hpp"

namespace impipe::engine {
namespace {

class Execution {
 public:
  Execution(const Program& program, Queue& queue, const ExecuteOptions& options)
      : stack_{.program = program, .plan = program.plan, .queue = queue, .options = options} {}

  std::vector<Outcome> run(std::vector<Material> materials) {
    begin(materials);
    upload(std::move(materials));
    try {
      for (size_t s = 0; s < plan_.steps.size(); ++s) {
        if (stack_.options.stop()) throw Error("stopped", ExitCode::file_failed);
        wait_for_kernel(s);
        run_step(s);
        for (const ValueId id : stack_.program.dead_after[s]) stack_.values[id] = {};
      }
      collect_results(stack_);
    } catch (...) {
      if (find_not_decoded(stack_)) throw NotDecoded();
      throw;
    }
    if (find_not_decoded(stack_) && stack_.count == 1) throw NotDecoded();
    if (stack_.options.timed) stack_.outcomes.front().activity = stack_.queue.take_notes();
    return std::move(stack_.outcomes);
  }

 private:
  void begin(std::vector<Material>& materials) {
    const Material& first = materials.front();
    std::map<std::string, Size> operand_sizes;
    for (const auto& [name, image] : first.operands) operand_sizes[name] = image.size();
    for (const auto& [name, image] : first.there) {
      operand_sizes[name] = image.pixels->size();
      stack_.unchanged.insert({image.pixels.get(), image.alpha.get()});
    }
    read_ = first.read;
    stack_.count = materials.size();
    stack_.outcomes.resize(stack_.count);
    stack_.values.resize(plan_.values.size());
    stack_.sizes =
        sizes_of(stack_.program, read_.by > 1 ? read_.full : first.size(), operand_sizes);
    stack_.sizes[0] = first.size();
    if (plan_.input_alpha && !first.is_coded() && !first.there.contains("")) {
      for (Material& material : materials) {
        if (material.image.alpha.cls() != plan_.values[*plan_.input_alpha].type.cls) {
          throw Error("its alpha has another class than its pixels", ExitCode::file_failed);
        }
        stack_.alphas.push_back({std::move(material.image.alpha)});
      }
    }
    if (stack_.options.timed) {
      stack_.queue.begin_notes();
      stack_.queue.note_as(no_step);
    }
    if (stack_.options.kernels_first) {
      for (size_t s = 0; s < plan_.steps.size(); ++s) wait_for_kernel(s);
    }
  }

  // A kernel that is still being compiled is not the device's work.
  void wait_for_kernel(size_t step) {
    constexpr double ready = 1e-5;  // seconds that it takes to find it so
    const double start = steady_seconds();
    wait_for(stack_.program.kernels[step], stack_.options.stop);
    const double end = steady_seconds();
    if (end - start > ready) {
      stack_.outcomes.front().kernel_waits.push_back({.begin = start, .end = end});
    }
  }

  void run_step(size_t step) {
    const std::int64_t launches = stack_.launches_of(static_cast<int>(step), [&] {
      launch_step(stack_.program, step, stack_.sizes, stack_.values, stack_.queue,
                  static_cast<int>(stack_.count), read_);
    });
    if (!stack_.options.timed) return;
    stack_.outcomes.front().step_launches.push_back(launches);
    double bytes = 0;
    for (const std::vector<ValueId>& ids : {plan_.steps[step].inputs, plan_.steps[step].outputs}) {
      for (const ValueId id : ids) bytes += stack_.image_bytes(id);
    }
    for (Outcome& each : stack_.outcomes) each.step_bytes.push_back(bytes);
  }

  // planes_of: of a material.
  template <class PlanesOf>
  void upload_as(ValueId id, const std::vector<Material>& materials, const PlanesOf& planes_of) {
    std::vector<Planes> images;
    for (const Material& material : materials) images.push_back(planes_of(material));
    stack_.values[id].plane = stack_.upload(images);
  }

  // Takes an image that is in the device's memory; false: there is none of the name.
  bool take_there(const Material& material, const std::string& name, ValueId pixels,
                  std::optional<ValueId> alpha) {
    const auto found = material.there.find(name);
    if (found == material.there.end()) return false;
    stack_.values[pixels].plane = found->second.pixels;
    if (alpha) stack_.values[*alpha].plane = found->second.alpha;
    return true;
  }

  // The host's images go with their upload.
  void upload(std::vector<Material> materials) {
    const std::vector<bool> read = values_read(plan_);
    const Material& first = materials.front();
    if (first.is_coded()) {
      decode(stack_, materials);
    } else if (!take_there(first, "", 0, plan_.input_alpha) && read[0]) {
      upload_as(0, materials, [](const Material& m) { return m.image.planes; });
    }
    if (!stack_.alphas.empty() && read_by_steps(plan_)[*plan_.input_alpha]) {
      stack_.values[*plan_.input_alpha].plane = stack_.upload(stack_.alphas);
    }
    put_constants(plan_, stack_.values, stack_.queue, static_cast<int>(stack_.count));
    for (const PlanOperand& operand : plan_.operands) {
      if (take_there(first, operand.name, operand.value, operand.alpha)) continue;
      const auto image_of = [&](const Material& m) -> const HostImage& {
        return m.operands.at(operand.name);
      };
      if (read[operand.value]) {
        upload_as(operand.value, materials, [&](const Material& m) { return image_of(m).planes; });
      }
      if (!operand.alpha || !read[*operand.alpha]) continue;
      if (image_of(first).alpha.cls() != plan_.values[*operand.alpha].type.cls) {
        throw Error(":" + operand.name + " has an alpha of another class than its pixels",
                    ExitCode::file_failed);
      }
      upload_as(*operand.alpha, materials,
                [&](const Material& m) { return Planes{image_of(m).alpha}; });
    }
  }

  DeviceStack stack_;
  const Plan& plan_ = stack_.plan;
  Shrunk read_;
};

// Numbers a channel that a measurement has in this launch.
std::int64_t values_now(const PlanValue& value, const std::vector<DeviceValue>& made,
                        const std::vector<Size>& sizes, Queue& queue) {
  if (!value.counted_by) return value.values;
  const double largest = queue.download(*made[*value.counted_by].measure).front();
  return value.values * (1 + objects_numbered(largest, sizes[value.measured_image]));
}

void check_sizes(const OnHost& what, const Step& step, const std::vector<Size>& sizes) {
  std::vector<Size> of;
  for (const impipe::Operand& image : step.kernel.nodes.front().images) {
    of.push_back(sizes[step.inputs[static_cast<size_t>(image.index)]]);
  }
  if (what.work->check) what.work->check(of);
}

void make_on_host(const OnHost& what, const Plan& plan, const Step& step,
                  const std::vector<Size>& sizes, std::vector<DeviceValue>& values, Queue& queue) {
  std::vector<Planes> images;
  for (const impipe::Operand& image : step.kernel.nodes.front().images) {
    const ValueId id = step.inputs[static_cast<size_t>(image.index)];
    const bool is_read = images.size() >= what.work->unread;
    images.push_back(is_read ? queue.download(*values[id].plane) : Planes{});
  }
  const ValueId made = step.outputs.front();
  const ImageType& type = plan.values[made].type;
  Planes result = new_planes(type.cls, type.channels, sizes[made]);
  what.work->make(images, result);
  values[made].plane = queue.upload(result);
}

}  // namespace

std::vector<bool> read_by_steps(const Plan& plan) {
  std::vector<bool> read(plan.values.size());
  for (const Step& step : plan.steps) {
    for (const ValueId id : step.inputs) read[id] = true;
  }
  return read;
}

std::vector<bool> values_read(const Plan& plan) {
  std::vector<bool> read = read_by_steps(plan);
  for (const ValueId value : written_images(plan)) read[value] = true;
  for (const ValueId value : object_images(plan)) read[value] = true;
  return read;
}

void put_constants(const Plan& plan, std::vector<DeviceValue>& values, Queue& queue, int count) {
  if (plan.constants.empty()) return;
  const std::vector<bool> read = read_by_steps(plan);
  for (const PlanConstant& constant : plan.constants) {
    if (!read[constant.value]) continue;
    values[constant.value].measure = queue.upload_measure(
        constant.table->numbers(), plan.values[constant.value].channels, count);
  }
}

void launch_step(const Program& program, size_t step, const std::vector<Size>& sizes,
                 std::vector<DeviceValue>& values, Queue& queue, int count, const Shrunk& read) {
  const Plan& plan = program.plan;
  const Step& what = plan.steps[step];
  if (const auto* on_host = std::get_if<OnHost>(&what.kernel.nodes.front().primitive)) {
    check_sizes(*on_host, what, sizes);
    if (program.kernels[step].get() == nullptr) {
      return make_on_host(*on_host, plan, what, sizes, values, queue);
    }
  }
  const PlaneKernel& planes = program.planes[step];
  Launch launch{.spec = &planes.spec, .inputs = {}, .outputs = {}};
  for (const int input : planes.inputs) launch.inputs.push_back(values[what.inputs[input]]);
  for (const int output : planes.outputs) {
    const ValueId id = what.outputs[output];
    const PlanValue& value = plan.values[id];
    DeviceValue& made = values[id];
    if (value.is_measure && !made.measure) {
      made.measure = queue.allocate_measure_stack(value.channels,
                                                  values_now(value, values, sizes, queue), count);
    } else if (!value.is_measure && !made.plane) {
      made.plane = queue.allocate_stack(value.type.cls, value.type.channels, sizes[id], count);
    }
    launch.outputs.push_back(made);
  }
  KernelSpec sized;
  const auto spec = [&]() -> KernelSpec& {
    if (launch.spec != &sized) sized = *launch.spec;
    launch.spec = &sized;
    return sized;
  };
  for (const SizedArgument& argument : program.sized[step]) {
    spec().nodes[argument.node].arguments[argument.place].value =
        value_of(argument.argument, sizes[argument.image]);
  }
  if (read.by > 1 && std::ranges::count(what.inputs, ValueId{0}) > 0) {
    for (Node& node : spec().nodes) {
      if (std::holds_alternative<Resample>(node.primitive)) set_arguments(node, read);
    }
  }
  if (plan.values[what.outputs.front()].counted_by) {
    spec().nodes.front().values = launch.outputs.front().measure->values();
  }
  queue.run(*program.kernels[step].get(), launch);
}

Outcome execute(const Program& program, Material material, Queue& queue,
                const ExecuteOptions& options) {
  std::vector<Material> one;
  one.push_back(std::move(material));
  return std::move(Execution(program, queue, options).run(std::move(one)).front());
}

std::vector<Outcome> execute_stack(const Program& program, std::vector<Material> materials,
                                   Queue& queue, const ExecuteOptions& options) {
  return Execution(program, queue, options).run(std::move(materials));
}

}  // namespace impipe::engine
