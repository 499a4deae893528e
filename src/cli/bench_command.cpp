// impipe bench: how fast pipelines run here, on the device's clock and from decoded pixels to
// result.
#include <fmt/format.h>

#include <utility>

#include "cli/bench_devices.hpp"
#include "cli/bench_flags.hpp"
#include "cli/bench_report.hpp"
#include "cli/json_text.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace impipe::cli {
namespace {

std::string line_of(const pipeline::Pipeline& pipeline, const engine::BenchmarkResult& result) {
  const std::string wall =
      result.runs > 0 ? fmt::format("{:11.3f}", result.median_ms) : fmt::format("{:>11}", "-");
  return figures_text(result) + " " + wall + "  " + printable(pipeline.text) + "\n";
}

nlohmann::ordered_json value_of(const pipeline::Pipeline& pipeline,
                                const engine::BenchmarkOptions& options,
                                const engine::BenchmarkResult& result) {
  nlohmann::ordered_json one{{"pipeline", pipeline.text}, {"class", name_of(result.type.cls)}};
  if (options.input.empty() && !pipeline.has_source()) one["size"] = options.size.width;
  one.update(figures_value(result, options.stack));
  return one;
}

// The pipelines on one device, each printed when it is measured.
void run_pipelines(const BenchFlags& flags) {
  const nlohmann::ordered_json before = read_older(flags);
  write_report("--report", flags.report, "");  // before minutes of measuring
  const engine::BenchmarkOptions options = options_of(flags);
  const std::vector<pipeline::Pipeline> pipelines = pipelines_of(flags);
  engine::Benchmark benchmark(flags.device, parse_threads(flags.threads));
  std::vector<std::pair<const pipeline::Pipeline*, engine::BenchmarkOptions>> all;
  for (const pipeline::Pipeline& pipeline : pipelines) all.emplace_back(&pipeline, options);
  benchmark.prepare(all);
  nlohmann::ordered_json json = bench_value(benchmark);
  if (!flags.json) write_stdout(std::string(figures_head) + "     wall ms  pipeline\n");
  for (const pipeline::Pipeline& pipeline : pipelines) {
    const engine::BenchmarkResult result = benchmark.run(pipeline, options);
    json["results"].push_back(value_of(pipeline, options, result));
    if (!flags.json) write_stdout(line_of(pipeline, result));
  }
  if (flags.json) write_stdout(json_text(json) + "\n");
  if (!before.is_null()) tell_changes(before, json, form_of(flags));
  write_report("--report", flags.report, json_text(json) + "\n");
}

int run_benchmarks(const BenchFlags& flags) {
  if (flags.pipelines.empty()) throw Error("no pipeline given: impipe bench PIPELINE...");
  check_input(flags);
  if (compares(flags)) return run_comparison(flags);
  run_pipelines(flags);
  return 0;
}

}  // namespace

void add_bench(CommandSet& commands) {
  Command& command = commands.add("bench");
  command.usage = "impipe bench PIPELINE...";
  command.summary =
      "Time pipelines on an image in memory: the device's time, and decoded pixels to result";
  command.examples =
      "impipe bench 'medfilt2 5' 'imadjust | conv2 k7 | edge prewitt'\n"
      "impipe bench --size 4096 --class uint16 -j 1 'imgaussfilt 2'\n"
      "impipe bench --device cpu:1,cpu,cuda:0 'imadjust | conv2 k7 | edge prewitt'\n";
  auto flags = std::make_shared<BenchFlags>();
  command.takes(flags->pipelines);
  add_bench_flags(command.app, *flags);
  command.run = [flags] { return run_benchmarks(*flags); };
}

}  // namespace impipe::cli
