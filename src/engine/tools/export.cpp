#include "engine/tools/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "backends/registry.hpp"
#include "core/error.hpp"
#include "core/primitive_facts.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {
namespace {

using Port = ExportedValue::Port;

[[noreturn]] void refuse(const std::string& why) { throw Error("export: " + why); }

void check_exportable(const Program& program) {
  const Plan& plan = program.plan;
  if (program.then) {
    refuse("the pipeline goes on with one image of several pages, which the host does");
  }
  for (const Step& step : plan.steps) {
    if (std::holds_alternative<OnHost>(step.kernel.nodes.front().primitive)) {
      refuse(program.operators[static_cast<size_t>(step.stages.front())] +
             " is computed by the host, not by a kernel");
    }
  }
  const bool counts = std::ranges::any_of(
      plan.values, [](const PlanValue& value) { return value.counted_by.has_value(); });
  if (counts || !object_images(plan).empty()) {
    refuse("the pipeline ends in a table of objects, which the host makes");
  }
  if (!plan.constants.empty()) refuse("tables of colours are made when the pipeline runs");
  if (plan.steps.empty()) refuse("the pipeline computes nothing");
}

class Request {
 public:
  Request(const Program& program, const ExportOptions& options, const std::vector<Size>& sizes)
      : program_(program), plan_(program.plan), sizes_(sizes) {
    made_.is_cuda = options.is_cuda;
    made_.vendor = options.vendor;
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const PlanValue& value = plan_.values[i];
      made_.values.push_back({.is_measure = value.is_measure,
                              .cls = value.type.cls,
                              .size = sizes[i],
                              .channels = value.is_measure ? value.channels : value.type.channels,
                              .values = value.values});
    }
  }

  ExportRequest make() {
    name_inputs();
    name_outputs();
    for (size_t s = 0; s < plan_.steps.size(); ++s) add_step(s);
    return std::move(made_);
  }

 private:
  ExportedValue& at(ValueId id) { return made_.values[static_cast<size_t>(id)]; }

  void name_inputs() {
    const std::vector<bool> read = read_by_steps(plan_);
    const auto name = [&](ValueId id, const std::string& text) {
      if (!read[static_cast<size_t>(id)]) return;
      at(id).port = Port::input;
      at(id).name = text;
    };
    name(0, "image");
    if (plan_.input_alpha) name(*plan_.input_alpha, "image's alpha");
    for (const PlanOperand& operand : plan_.operands) {
      name(operand.value, ":" + operand.name);
      if (operand.alpha) name(*operand.alpha, ":" + operand.name + "'s alpha");
    }
  }

  void name_outputs() {
    std::vector<bool> made(plan_.values.size());
    for (const Step& step : plan_.steps) {
      for (const ValueId id : step.outputs) made[static_cast<size_t>(id)] = true;
    }
    const auto name = [&](ValueId id, const std::string& text) {
      if (at(id).port == Port::output) return;  // it is written twice
      if (!made[static_cast<size_t>(id)]) refuse("the " + text + " is an input as it is");
      at(id).port = Port::output;
      at(id).name = text;
    };
    if (plan_.writes_image) {
      name(plan_.result, "result");
      if (plan_.result_alpha && made[static_cast<size_t>(*plan_.result_alpha)]) {
        name(*plan_.result_alpha, "result's alpha");
      }
    }
    for (const PlanSave& save : plan_.saves) name(save.value, "save " + save.name_template);
    for (const PlanMeasurement& measurement : plan_.measurements) {
      name(measurement.value, measurement.name);
    }
    for (const PlanCheck& check : plan_.checks) name(check.value, "not 0: " + check.problem);
  }

  void add_step(size_t s) {
    const Step& step = plan_.steps[s];
    const PlaneKernel& planes = program_.planes[s];
    ExportedStep out{planes.spec, {}, {}, {}};
    for (const int input : planes.inputs) {
      out.inputs.push_back(step.inputs[static_cast<size_t>(input)]);
    }
    for (const int output : planes.outputs) {
      out.outputs.push_back(step.outputs[static_cast<size_t>(output)]);
    }
    for (const SizedArgument& sized : program_.sized[s]) {
      out.spec.nodes[sized.node].arguments[sized.place].value =
          value_of(sized.argument, sizes_[static_cast<size_t>(sized.image)]);
    }
    out.unread_after.assign(program_.dead_after[s].begin(), program_.dead_after[s].end());
    made_.steps.push_back(std::move(out));
  }

  const Program& program_;
  const Plan& plan_;
  const std::vector<Size>& sizes_;
  ExportRequest made_;
};

void write(const std::filesystem::path& path, const std::string& text) {
  std::error_code none;
  if (std::filesystem::exists(path, none)) {
    throw Error(path.string() + ": is there already", ExitCode::file_failed);
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(path.string() + ": can't be written", ExitCode::file_failed);
}

}  // namespace

int export_pipeline(const pipeline::Pipeline& pipeline, const ExportOptions& options,
                    const std::filesystem::path& folder) {
  std::map<std::string, ImageType> types;
  std::map<std::string, Size> operands;
  for (const std::string& name : pipeline.operands) {
    types[name] = options.type;
    operands[name] = options.size;
  }
  Plan lowered = pipeline::lower(pipeline, options.type, types, {.display = options.display});
  Plan plan = pipeline::fuse(lowered, true);
  const Program program = make_program(pipeline, std::move(lowered), std::move(plan));
  check_exportable(program);
  const std::vector<Size> sizes = sizes_of(program, options.size, operands);
  ExportRequest request = Request(program, options, sizes).make();
  request.title = fmt::format("{}: impipe export '{}', for {} {} of {} channel{}", options.program,
                              pipeline.text, to_string(options.size), name_of(options.type.cls),
                              options.type.channels, options.type.channels == 1 ? "" : "s");
  std::ranges::replace(request.title, '\n', ' ');
  const std::vector<ExportedFile> files = backends::export_code(request);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(folder.string() + ": " + error.message(), ExitCode::file_failed);
  for (const ExportedFile& file : files) write(folder / file.name, file.text);
  return static_cast<int>(files.size());
}

}  // namespace impipe::engine
