// impipe plan: what a pipeline would do, without touching a pixel.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "cli/command.hpp"
#include "cli/json_text.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/plane_kernel.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/device/session.hpp"
#include "engine/program/shrunk.hpp"
#include "engine/tools/inspect.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/image_sizes.hpp"
#include "pipeline/lower.hpp"

namespace impipe::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PlanFlags {
  std::vector<std::string> arguments;
  std::string pipeline_file;
  std::string cls = "uint8", max_pixels, sandbox, device, axes, output, format;
  int channels = 1;
  bool alpha = false;
  bool strict = false, no_fuse = false, json = false, shrink_on_load = false;
};

// What the plan is made for; 0x0 when nothing says how large it is.
engine::FileFacts input_of(const PlanFlags& flags, const pipeline::Pipeline& pipeline,
                           std::int64_t max_pixels) {
  if (pipeline.has_source()) {
    if (!flags.arguments.empty()) {
      throw Error("the pipeline makes its own image, with " +
                  std::string(pipeline.stages.front().call->op().name) + ", and takes no inputs");
    }
    const MadeImage made = pipeline::checked_source(pipeline, max_pixels);
    return {.type = made.type, .size = made.size};
  }
  if (!flags.arguments.empty()) {
    try {
      engine::FileFacts facts = engine::inspect(flags.arguments.front(), flags.axes);
      if (facts.size.pixels() > max_pixels) {
        throw Error("too many pixels: " + to_string(facts.size) + " is more than the limit of " +
                    std::to_string(max_pixels) + " (--max-pixels)");
      }
      return facts;
    } catch (const Error& error) {
      throw Error(flags.arguments.front() + ": " + error.what(), ExitCode::file_failed);
    }
  }
  engine::FileFacts input;
  input.type.cls = parse_class("--class", flags.cls);
  input.type.channels = flags.channels;
  input.type.alpha = flags.alpha;
  input.type.white = class_max(input.type.cls);
  return input;
}

// Two lines a node of a step's kernels: how the device makes it, and why.
pipeline::DeviceKernels kernels_of(const Plan& plan, const KernelForms& kernels) {
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

Json type_value(const ImageType& type) {
  Json value{{"class", name_of(type.cls)}, {"channels", type.channels}, {"alpha", type.alpha}};
  value["white"] = type.white > 0 ? Json(type.white) : Json();  // distances have none
  return value;
}

std::string plan_json(const pipeline::Pipeline& pipeline, const engine::FileFacts& input,
                      std::span<const pipeline::ExplainedPart> parts) {
  const Plan& first = parts.front().plan;
  Json json{{"program", "impipe"}, {"version", IMPIPE_VERSION}, {"pipeline", pipeline.text}};
  json["input"] = type_value(first.values[0].type);
  if (input.size.pixels() > 0) {
    json["input"].update({{"width", input.size.width}, {"height", input.size.height}});
  }
  if (parts.front().kernels != nullptr) json["device"] = parts.front().kernels->device;
  json["stages"] = Json::array();
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    const auto part = std::ranges::find_if(
        parts, [&](const auto& one) { return s < one.plan.stage_types.size(); });
    json["stages"].push_back(
        {{"text", pipeline.stages[s].text}, {"makes", type_value(part->plan.stage_types[s])}});
  }
  double before = 0, after = 0;
  size_t unfused_steps = 0;
  json["steps"] = Json::array();
  Json reductions = Json::array(), notes = Json::array();
  for (const pipeline::ExplainedPart& part : parts) {
    for (const Step& step : part.unfused.steps) before += pipeline::bytes_per_pixel(step);
    unfused_steps += part.unfused.steps.size();
    size_t number = 0;
    for (const pipeline::StepWords& words : pipeline::words_of(part.plan)) {
      Json step{{"what", words.what},
                {"stages", words.stages},
                {"reads", words.reads},
                {"bytes_per_pixel", words.bytes_per_pixel},
                {"apart", words.apart}};
      if (part.kernels != nullptr) step["kernel"] = part.kernels->steps[number++];
      after += words.bytes_per_pixel;
      json["steps"].push_back(std::move(step));
    }
    for (const std::string& note : part.plan.notes) notes.push_back(note);
    if (!part.reduction) continue;
    reductions.push_back({{"stage", part.reduction_stage + 1},
                          {"after_steps", json["steps"].size()},
                          {"what", pipeline::describe(*part.reduction)}});
  }
  if (!reductions.empty()) json["reductions"] = std::move(reductions);
  json["unfused_steps"] = unfused_steps;
  json["bytes_per_pixel"] = after;
  json["unfused_bytes_per_pixel"] = before;
  json["writes_image"] = parts.back().plan.writes_image;
  json["notes"] = std::move(notes);
  return json_text(json) + "\n";
}

std::string shrink_note(const PlanFlags& flags, const pipeline::Pipeline& pipeline,
                        const Plan& lowered) {
  constexpr const char* option = "--shrink-on-load: ";
  if (pipeline.has_source() || !engine::begins_with_reduction(lowered)) {
    return std::string(option) + "nothing changes: the pipeline does not begin with a reduction";
  }
  if (flags.arguments.empty()) return std::string(option) + "JPEGs may be read smaller";
  const std::string how = engine::shrunk_reading(flags.arguments.front(), lowered, flags.axes);
  return option + (how.empty() ? "the input is read as it is" : "the input is read at " + how);
}

// Why the result can't be written where -o or --format say, or in the format of the input; empty
// where it can, or where nothing is known of the input.
std::string refusal_of(const PlanFlags& flags, const pipeline::Pipeline& pipeline, const Plan& plan,
                       const std::vector<Size>& sizes) {
  if (pipeline.has_source() || flags.arguments.empty() || !plan.writes_image) return "";
  try {
    engine::check_writable(flags.arguments.front(), plan, sizes[static_cast<size_t>(plan.result)],
                           flags.format.empty() ? flags.output : flags.format, flags.axes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void print_plan(const PlanFlags& flags, const pipeline::Pipeline& pipeline) {
  const std::int64_t max_pixels = flags.max_pixels.empty()
                                      ? pipeline::default_max_pixels
                                      : parse_amount("--max-pixels", flags.max_pixels, 1000);
  engine::FileFacts input = input_of(flags, pipeline, max_pixels);
  if (pipeline.reads_profile()) input.type.profile = unread_profile();
  std::map<std::string, ImageType> operands;
  std::map<std::string, Size> sizes;
  for (const std::string& name : pipeline.operands) {
    operands[name] = input.type;
    sizes[name] = input.size;
  }
  const std::vector<pipeline::PlanPart> parts = pipeline::lower_parts(
      pipeline, input.type, operands, {.strict = flags.strict, .display = input.display});
  std::optional<KernelForms> forms;
  if (!flags.device.empty()) forms = engine::kernel_forms(flags.device);
  const bool nests = !forms || forms->nests_neighbourhoods;
  std::vector<Plan> plans;
  std::vector<std::vector<Size>> planned;
  Size size = input.size;
  for (const pipeline::PlanPart& part : parts) {
    plans.push_back(flags.no_fuse ? pipeline::without_unread(part.plan)
                                  : pipeline::fuse(part.plan, nests));
    planned.push_back(pipeline::planned_sizes(pipeline, part.plan, size, sizes, max_pixels));
    size = planned.back()[static_cast<size_t>(part.plan.result)];
  }
  const Plan& lowered = parts.front().plan;
  Plan& plan = plans.front();
  if (flags.shrink_on_load) plan.notes.push_back(shrink_note(flags, pipeline, lowered));
  if (!pipeline.has_source() && !flags.arguments.empty()) {
    std::string note = engine::codec_note(flags.arguments.front(), plan, flags.axes);
    if (!note.empty()) plan.notes.push_back(std::move(note));
  }
  const bool is_asked = !flags.output.empty() || !flags.format.empty();
  const std::string refusal = refusal_of(flags, pipeline, plans.back(), planned.back());
  if (!is_asked && !refusal.empty()) {
    plans.back().notes.push_back("in the input's format: " + refusal);
  }
  if (input.size.pixels() > 0 && parts.size() == 1) {
    plan.notes.push_back(engine::memory_note(pipeline, lowered, plan, planned.front()));
  }
  std::vector<pipeline::DeviceKernels> kernels;
  for (const Plan& one : plans) {
    if (forms) kernels.push_back(kernels_of(one, *forms));
  }
  std::vector<pipeline::ExplainedPart> explained;
  for (size_t i = 0; i < parts.size(); ++i) {
    explained.push_back({plans[i], parts[i].plan, forms ? &kernels[i] : nullptr, parts[i].reduction,
                         parts[i].reduction_stage});
  }
  write_stdout(flags.json ? plan_json(pipeline, input, explained)
                          : pipeline::explain(pipeline, explained));
  if (is_asked && !refusal.empty()) {
    throw Error(flags.arguments.front() + ": encode: " + refusal, ExitCode::file_failed);
  }
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
  option(app, "-o,--output", flags->output, "PATH",
         "Fail where the result of the input can't be written there; nothing is written");
  option(app, "--format", flags->format, "EXT", "So, in this format");
  option(app, "--max-pixels", flags->max_pixels, "N", "Refuse larger images (default 1073M)");
  add_axes(app, flags->axes);
  add_sandbox(app, flags->sandbox);
  flag(app, "--strict", flags->strict, "An implicit rgb2gray is an error");
  flag(app, "--shrink-on-load", flags->shrink_on_load, "Say how that option reads the input");
  flag(app, "--no-fuse", flags->no_fuse, "Show the plan without fusion");
  option(app, "--device", flags->device, "ID",
         "Show what cpu, cuda or opencl makes of each step; cuda:1 is the second card");
  flag(app, "--json", flags->json, "As JSON");
  command.run = [flags] { return show_plan(*flags); };
}

}  // namespace impipe::cli
