// impipe plan: what a pipeline would do, without touching a pixel.
#include <fmt/format.h>

#include <new>

#include "cli/command.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/plane_kernel.hpp"
#include "engine/file_at_work.hpp"
#include "engine/inspect.hpp"
#include "engine/session.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/image_sizes.hpp"
#include "pipeline/lower.hpp"

namespace impipe::cli {
namespace {

struct PlanFlags {
  std::vector<std::string> arguments;
  std::string pipeline_file;
  std::string cls = "uint8", max_pixels, sandbox, device;
  int channels = 1;
  bool alpha = false;
  bool strict = false, no_fuse = false;
};

// What the plan is made for; 0x0 when nothing says how large it is.
MadeImage input_of(const PlanFlags& flags, const pipeline::Pipeline& pipeline,
                   std::int64_t max_pixels) {
  if (pipeline.has_source()) {
    if (!flags.arguments.empty()) {
      throw Error("the pipeline makes its own image, with " +
                  std::string(pipeline.stages.front().call->op().name) + ", and takes no inputs");
    }
    return pipeline::checked_source(pipeline, max_pixels);
  }
  if (!flags.arguments.empty()) {
    try {
      const engine::FileFacts facts = engine::inspect(flags.arguments.front());
      if (facts.size.pixels() > max_pixels) {
        throw Error("too many pixels: " + to_string(facts.size) + " is more than the limit of " +
                    std::to_string(max_pixels) + " (--max-pixels)");
      }
      return {facts.type, facts.size};
    } catch (const Error& error) {
      throw Error(flags.arguments.front() + ": " + error.what(), ExitCode::file_failed);
    }
  }
  MadeImage input;
  input.type.cls = parse_class("--class", flags.cls);
  input.type.channels = flags.channels;
  input.type.alpha = flags.alpha;
  input.type.white = class_max(input.type.cls);
  return input;
}

// Two lines a node of a step's kernels: how the device makes it, and why.
pipeline::DeviceKernels kernels_of(const Plan& plan, const std::string& device) {
  const KernelForms kernels = engine::kernel_forms(device);
  pipeline::DeviceKernels out{kernels.device, {}};
  for (const Step& step : plan.steps) {
    const KernelSpec spec = plane_kernel(step.kernel).spec;
    const std::vector<NodeForm> forms = kernels.of(spec);
    std::vector<std::string> lines;
    for (std::size_t n = 0; n < forms.size(); ++n) {
      lines.push_back(
          fmt::format("n{} {}: {}", n, pipeline::describe(spec.nodes[n]), forms[n].form));
      lines.push_back("   " + forms[n].reason);
    }
    out.steps.push_back(std::move(lines));
  }
  return out;
}

void print_plan(const PlanFlags& flags, const pipeline::Pipeline& pipeline) {
  const std::int64_t max_pixels = flags.max_pixels.empty()
                                      ? pipeline::default_max_pixels
                                      : parse_amount("--max-pixels", flags.max_pixels, 1000);
  const MadeImage input = input_of(flags, pipeline, max_pixels);
  std::map<std::string, ImageType> operands;
  std::map<std::string, Size> sizes;
  for (const std::string& name : pipeline.operands) {
    operands[name] = input.type;
    sizes[name] = input.size;
  }
  const Plan lowered = pipeline::lower(pipeline, input.type, operands, {.strict = flags.strict});
  pipeline::planned_sizes(pipeline, lowered, input.size, sizes, max_pixels);
  const Plan plan = flags.no_fuse ? pipeline::without_unread(lowered) : pipeline::fuse(lowered);
  if (flags.device.empty()) return write_stdout(pipeline::explain(pipeline, plan, lowered));
  const pipeline::DeviceKernels kernels = kernels_of(plan, flags.device);
  write_stdout(pipeline::explain(pipeline, plan, lowered, &kernels));
}

int show_plan(PlanFlags& flags) {
  const pipeline::Pipeline pipeline =
      take_pipeline(flags.arguments, flags.pipeline_file, engine::make_sandbox(flags.sandbox));
  if (flags.arguments.empty()) {
    print_plan(flags, pipeline);
    return 0;
  }
  if (flags.arguments.size() > 1) throw Error("plan takes one input, whose kind counts");
  const engine::FileAtWork at_work(flags.arguments.front().c_str());
  try {
    print_plan(flags, pipeline);
    return 0;
  } catch (const std::bad_alloc&) {
    say_out_of_memory(flags.arguments.front());
    return static_cast<int>(ExitCode::file_failed);
  }
}

}  // namespace

void add_plan(CommandSet& commands) {
  Command& command = commands.add("plan");
  command.usage = "impipe plan PIPELINE [INPUT]";
  command.summary = "Show stages, types, fused steps and bytes moved";
  command.examples =
      "impipe plan 'imadjust | conv2 k7 | edge prewitt' photos/a.png\n"
      "impipe plan 'imadjust | conv2 k7 | edge prewitt' --class uint16 --channels 3\n"
      "impipe plan 'imgaussfilt 2 | imadjust' --device cuda\n";
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* app = command.app;
  command.takes(flags->arguments);
  option(app, "-f,--file", flags->pipeline_file, "FILE", "Read the pipeline from a file");
  option(app, "--class", flags->cls, "CLASS", "Of the image, when no input is given");
  option(app, "--channels", flags->channels, "N", "Of the image: 1 or 3")->check(one_or_three());
  flag(app, "--alpha", flags->alpha, "The image has alpha");
  option(app, "--max-pixels", flags->max_pixels, "N", "Refuse larger images (default 1073M)");
  add_sandbox(app, flags->sandbox);
  flag(app, "--strict", flags->strict, "An implicit rgb2gray is an error");
  flag(app, "--no-fuse", flags->no_fuse, "Show the plan without fusion");
  option(app, "--device", flags->device, "ID",
         "Show what cpu, cuda or opencl makes of each step; cuda:1 is the second card");
  command.run = [flags] { return show_plan(*flags); };
}

}  // namespace impipe::cli
