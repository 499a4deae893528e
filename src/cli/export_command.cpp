// impipe export: a pipeline's kernels as source, for other programs.
#include <fmt/format.h>

#include <charconv>

#include "cli/command.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/tools/export.hpp"
#include "engine/tools/inspect.hpp"

namespace impipe::cli {
namespace {

struct ExportFlags {
  std::vector<std::string> arguments;
  std::string pipeline_file, sandbox, to, vendor, size, like, axes, cls = "uint8";
  int channels = 1;
  bool alpha = false;
};

Size parse_size(const std::string& text) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  if (width.ec == std::errc() && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, size.height);
    if (height.ec == std::errc() && height.ptr == end && size.width > 0 && size.height > 0) {
      return size;
    }
  }
  throw Error("--size: '" + text + "' is no size such as 1920x1080");
}

engine::ExportOptions options_of(const ExportFlags& flags) {
  engine::ExportOptions options;
  options.is_cuda = flags.to == "cuda";
  options.vendor = !flags.vendor.empty() ? flags.vendor : options.is_cuda ? "nvidia" : "generic";
  options.program = std::string("impipe ") + IMPIPE_VERSION;
  if (flags.like.empty() == flags.size.empty()) {
    throw Error("export needs --size WxH or --like PICTURE: launches are for images of one size");
  }
  if (!flags.like.empty()) {
    try {
      const engine::FileFacts facts = engine::inspect(flags.like, flags.axes);
      options.type = facts.type;
      options.size = facts.size;
      options.display = facts.display;
      return options;
    } catch (const Error& error) {
      throw Error(flags.like + ": " + error.what(), ExitCode::file_failed);
    }
  }
  options.size = parse_size(flags.size);
  options.type.cls = parse_class("--class", flags.cls);
  options.type.channels = flags.channels;
  options.type.alpha = flags.alpha;
  options.type.white = class_max(options.type.cls);
  return options;
}

int export_files(ExportFlags& flags) {
  constexpr const char* usage = "export takes a pipeline and one folder";
  if (flags.arguments.empty()) throw Error(usage);
  const std::string folder = flags.arguments.back();
  flags.arguments.pop_back();
  const pipeline::Pipeline pipeline =
      take_pipeline(flags.arguments, flags.pipeline_file, engine::make_sandbox(flags.sandbox));
  if (!flags.arguments.empty()) throw Error(usage);
  if (pipeline.has_source()) {
    throw Error("the pipeline makes its own image; an exported one is given its images");
  }
  if (flags.to.empty()) throw Error("export needs --to opencl or --to cuda");
  const int files = engine::export_pipeline(pipeline, options_of(flags), folder);
  write_stdout(fmt::format("{}: {} files; pipeline.c says how they are used\n", folder, files));
  return 0;
}

}  // namespace

void add_export(CommandSet& commands) {
  Command& command = commands.add("export");
  command.usage = "impipe export PIPELINE DIR --to opencl|cuda";
  command.summary = "Write the fused kernels as source, with a launcher in C";
  command.examples =
      "impipe export 'imadjust | conv2 k7 | edge prewitt' kernels/ --to opencl --like "
      "photos/a.png\n"
      "impipe export 'imgaussfilt 2' kernels/ --to cuda --size 1920x1080 --class uint16\n";
  command.notes =
      "The folder gets step1.cl (or .cu) and so on, pipeline.h with what goes in and out, and\n"
      "pipeline.c with pipeline_tables.h, which launch the kernels on buffers of the program that\n"
      "they are copied into. They are for images of one size, class and number of channels.\n";
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* app = command.app;
  command.takes(flags->arguments);
  option(app, "-f,--file", flags->pipeline_file, "FILE", "Read the pipeline from a file");
  option(app, "--to", flags->to, "LANGUAGE", "opencl or cuda")
      ->check(CLI::IsMember({"opencl", "cuda"}));
  option(app, "--like", flags->like, "PICTURE",
         "For images of this one's size, class and channels");
  option(app, "--size", flags->size, "WxH", "Of the image, without --like");
  option(app, "--class", flags->cls, "CLASS", "Of the image, without --like (default uint8)");
  option(app, "--channels", flags->channels, "N", "Of the image, without --like: 1 or 3")
      ->check(one_or_three());
  flag(app, "--alpha", flags->alpha, "The image has alpha, without --like");
  option(app, "--vendor", flags->vendor, "NAME",
         "Tuned for cards of nvidia, amd, intel or generic (default for OpenCL)")
      ->check(CLI::IsMember({"nvidia", "amd", "intel", "generic"}));
  add_axes(app, flags->axes);
  add_sandbox(app, flags->sandbox);
  command.run = [flags] { return export_files(*flags); };
}

}  // namespace impipe::cli
