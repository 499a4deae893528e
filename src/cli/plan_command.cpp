// impipe plan: what a pipeline would do, without touching a pixel.
#include "cli/command.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/inspect.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::cli {
namespace {

struct PlanFlags {
  std::vector<std::string> arguments;
  std::string pipeline_file;
  std::string cls = "uint8";
  int channels = 1;
  bool alpha = false;
  bool strict = false, no_fuse = false;
};

ImageType type_of_input(const PlanFlags& flags, const pipeline::Pipeline& pipeline) {
  if (pipeline.has_source()) return pipeline.make_source().type;
  if (!flags.arguments.empty()) {
    try {
      return engine::inspect(flags.arguments.front()).type;
    } catch (const Error& error) {
      throw Error(flags.arguments.front() + ": " + error.what(), ExitCode::file_failed);
    }
  }
  ImageType type;
  type.cls = parse_class("--class", flags.cls);
  type.channels = flags.channels;
  type.alpha = flags.alpha;
  type.white = class_max(type.cls);
  return type;
}

int show_plan(PlanFlags& flags) {
  const pipeline::Pipeline pipeline = take_pipeline(flags.arguments, flags.pipeline_file);
  if (flags.arguments.size() > 1) throw Error("plan takes one input, whose kind counts");
  const ImageType type = type_of_input(flags, pipeline);
  std::map<std::string, ImageType> operands;
  for (const std::string& name : pipeline.operands) operands[name] = type;
  const Plan lowered = pipeline::lower(pipeline, type, operands, {.strict = flags.strict});
  const Plan plan = flags.no_fuse ? pipeline::without_unread(lowered) : pipeline::fuse(lowered);
  write_stdout(pipeline::explain(pipeline, plan, lowered));
  return 0;
}

}  // namespace

void add_plan(CommandSet& commands) {
  Command& command = commands.add("plan");
  command.usage = "impipe plan PIPELINE [INPUT]";
  command.summary = "Show stages, types, fused steps and bytes moved";
  command.examples =
      "impipe plan 'imadjust | conv2 k7 | edge prewitt' photos/a.png\n"
      "impipe plan 'imadjust | conv2 k7 | edge prewitt' --class uint16 --channels 3\n";
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* app = command.app;
  command.takes(flags->arguments);
  option(app, "-f,--file", flags->pipeline_file, "FILE", "Read the pipeline from a file");
  option(app, "--class", flags->cls, "CLASS", "Of the image, when no input is given");
  option(app, "--channels", flags->channels, "N", "Of the image: 1 or 3")->check(one_or_three());
  flag(app, "--alpha", flags->alpha, "The image has alpha");
  flag(app, "--strict", flags->strict, "An implicit rgb2gray is an error");
  flag(app, "--no-fuse", flags->no_fuse, "Show the plan without fusion");
  command.run = [flags] { return show_plan(*flags); };
}

}  // namespace impipe::cli
