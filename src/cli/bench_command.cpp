// impipe bench: how fast pipelines run here, decoded pixels to result.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/benchmark.hpp"

namespace impipe::cli {
namespace {

struct BenchFlags {
  std::vector<std::string> pipelines;
  engine::BenchmarkOptions options;
  std::string cls = "uint8";
  int size = 2048;
  int threads = 0;
  bool no_fuse = false;
  bool json = false;
};

int run_benchmarks(BenchFlags& flags) {
  if (flags.pipelines.empty()) throw Error("no pipeline given: impipe bench PIPELINE...");
  flags.options.size = {flags.size, flags.size};
  flags.options.cls = parse_class("--class", flags.cls);
  flags.options.threads = parse_threads(flags.threads);
  flags.options.session.fuse = !flags.no_fuse;
  auto results = nlohmann::ordered_json::array();
  for (const std::string& text : flags.pipelines) {
    std::vector<std::string> argument = {text};
    const engine::BenchmarkResult result =
        engine::benchmark(take_pipeline(argument, ""), flags.options);
    if (flags.json) {
      results.push_back({{"pipeline", text},
                         {"median_ms", result.median_ms},
                         {"min_ms", result.min_ms},
                         {"runs", result.runs}});
    } else {
      write_stdout(fmt::format("{:10.3f} ms  (min {:.3f}, {} runs)  {}\n", result.median_ms,
                               result.min_ms, result.runs, text));
    }
  }
  if (flags.json) {
    write_stdout(nlohmann::ordered_json{{"results", results}}.dump(
                     -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                 "\n");
  }
  return 0;
}

}  // namespace

void add_bench(CommandSet& commands) {
  Command& command = commands.add("bench");
  command.usage = "impipe bench PIPELINE...";
  command.summary = "Time pipelines on an image in memory: decoded pixels to result";
  command.examples =
      "impipe bench 'medfilt2 5' 'imadjust | conv2 k7 | edge prewitt'\n"
      "impipe bench --size 4096 --class uint16 -j 1 'imgaussfilt 2'\n";
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* app = command.app;
  app->add_option("pipelines", flags->pipelines, "Pipelines")->type_name("");
  option(app, "--size", flags->size, "N", "Side of the made image (default 2048)")
      ->check(in_range(1, 65536));
  option(app, "--class", flags->cls, "CLASS", "Of the made image (default uint8)");
  option(app, "--channels", flags->options.channels, "N", "Of the made image: 1 or 3")
      ->check(one_or_three());
  option(app, "--input", flags->options.input, "FILE", "A picture instead of the made image");
  option(app, "--repeat", flags->options.repeat, "N", "Runs (default: about a second's)")
      ->check(in_range(1, 1000000));
  option(app, "-j,--threads", flags->threads, "N", "Threads (default: all cores)");
  option(app, "--backend", flags->options.device.backend, "NAME", "auto, or a backend");
  option(app, "--device", flags->options.device.device, "ID", "A device of impipe devices");
  flag(app, "--no-fuse", flags->no_fuse, "Run each operator on its own");
  flag(app, "--json", flags->json, "As JSON");
  command.run = [flags] { return run_benchmarks(*flags); };
}

}  // namespace impipe::cli
