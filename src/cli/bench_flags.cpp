#include "cli/bench_flags.hpp"

#include <algorithm>
#include <fstream>

#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::cli {

void add_bench_flags(CLI::App* app, BenchFlags& flags) {
  option(app, "--size", flags.size, "N", "Side of the made image (default 2048)")
      ->check(in_range(1, 65536));
  option(app, "--max-pixels", flags.max_pixels, "N",
         "Refuse larger sources and results (default 1073M)");
  option(app, "--class", flags.cls, "CLASS", "Of the made image (default uint8)");
  option(app, "--channels", flags.channels, "N", "Of the made image: 1 or 3")
      ->check(one_or_three());
  option(app, "--stack", flags.stack, "N",
         "Equal images, in one launch where the device can, else one after the other")
      ->check(in_range(1, 1024));
  option(app, "--input", flags.input, "FILE", "A picture instead of the made image");
  option(app, "--repeat", flags.repeat, "N", "Runs to the result (default: about a second's)")
      ->check(in_range(1, 1000000));
  option(app, "-j,--threads", flags.threads, "N", "Threads (default: all cores)");
  option(app, "--backend", flags.device.backend, "NAME", "auto, or a backend");
  option(app, "--device", flags.device.device, "ID",
         "A device of impipe devices, or several to compare: cpu:1,cpu,cuda:0")
      ->transform(auto_as_none);
  add_sandbox(app, flags.sandbox);
  flag(app, "--no-fuse", flags.no_fuse, "Run each operator on its own");
  flag(app, "--in-cache", flags.in_cache,
       "Runs to the result may find their image in a cache, as loops of other programs do");
  flag(app, "--json", flags.json, "As JSON");
  flag(app, "--markdown", flags.markdown, "As a table of Markdown");
  flag(app, "--csv", flags.csv, "As comma-separated values");
  option(app, "--against", flags.against, "OLD.json",
         "Say what changed beyond the noise since that --json or --report");
  option(app, "--report", flags.report, "FILE", "Write the JSON to FILE and the table to stdout");
}

void check_input(const BenchFlags& flags) {
  if (flags.input.empty()) return;
  if (flags.size > 0 || flags.channels > 0 || !flags.cls.empty()) {
    throw Error("--input has its own size, class and channels");
  }
}

bool compares(const BenchFlags& flags) {
  const std::string& device = flags.device.device;
  const bool several = device.find(',') != std::string::npos || device.rfind("cpu:", 0) == 0;
  return several || flags.markdown || flags.csv;
}

pipeline::Pipeline pipeline_of(const std::string& text, const engine::Sandbox& sandbox) {
  std::vector<std::string> argument = {text};
  pipeline::Pipeline pipeline = take_pipeline(argument, "", sandbox);
  if (pipeline.has_measured_arguments()) {
    throw Error("bench: an argument of '" + text + "' is measured; write a number");
  }
  return pipeline;
}

std::vector<pipeline::Pipeline> pipelines_of(const BenchFlags& flags) {
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  std::vector<pipeline::Pipeline> pipelines;
  for (const std::string& text : flags.pipelines) pipelines.push_back(pipeline_of(text, sandbox));
  return pipelines;
}

engine::BenchmarkOptions options_of(const BenchFlags& flags) {
  constexpr int usual_size = 2048;
  const int size = flags.size > 0 ? flags.size : usual_size;
  return {.session = {.fuse = !flags.no_fuse, .strict = false},
          .size = {size, size},
          .cls = parse_class("--class", flags.cls.empty() ? "uint8" : flags.cls),
          .channels = std::max(1, flags.channels),
          .input = flags.input,
          .sources = {},
          .max_pixels = flags.max_pixels.empty()
                            ? pipeline::default_max_pixels
                            : parse_amount("--max-pixels", flags.max_pixels, 1000),
          .stack = flags.stack,
          .wall = flags.stack == 1,
          .repeat = flags.repeat,
          .in_cache = flags.in_cache};
}

TableForm form_of(const BenchFlags& flags) {
  if (flags.json + flags.markdown + flags.csv > 1) {
    throw Error("--json, --markdown and --csv exclude each other");
  }
  return flags.json       ? TableForm::json
         : flags.markdown ? TableForm::markdown
         : flags.csv      ? TableForm::csv
                          : TableForm::text;
}

nlohmann::ordered_json read_older(const BenchFlags& flags) {
  if (flags.against.empty()) return {};
  std::ifstream file(flags.against);
  if (!file) {
    throw Error("--against: " + flags.against + ": it cannot be read", ExitCode::file_failed);
  }
  auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  if (json.is_discarded()) {
    throw Error("--against: " + flags.against + " is no JSON", ExitCode::file_failed);
  }
  return json;
}

void tell_changes(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                  TableForm form) {
  std::string text = changes_text(before, now);
  if (form == TableForm::text) return write_stdout(text);
  text.pop_back();
  write_stderr(text);
}

void write_report(const std::string& flag, const std::string& path, const std::string& text) {
  if (!path.empty() && !(std::ofstream(path) << text << std::flush)) {
    throw Error(flag + ": " + path + " can't be written", ExitCode::file_failed);
  }
}

}  // namespace impipe::cli
