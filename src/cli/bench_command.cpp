// impipe bench: how fast pipelines run here, on the device's clock and from decoded pixels to
// result.
#include <algorithm>
#include <utility>

#include "cli/bench_flags.hpp"
#include "cli/bench_report.hpp"
#include "cli/bench_variants.hpp"
#include "cli/command.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/tools/benchmark.hpp"

namespace impipe::cli {
namespace {

int list_suites() {
  for (const Suite& suite : all_suites()) {
    write_stdout(std::string(suite.name) + "  " + suite.summary + "\n");
  }
  write_stdout(std::string(every_suite) + "  each of them but sweep and colour\n");
  return 0;
}

// What one flag says and another one takes no account of.
void check_flags(const BenchFlags& flags) {
  const bool suite = !flags.suite.empty();
  if (!suite && flags.pipelines.empty()) {
    throw Error("no pipeline given: impipe bench PIPELINE...");
  }
  if (suite && !flags.pipelines.empty()) {
    throw Error("--suite brings its own pipelines: '" + flags.pipelines.front() +
                "' is one too many");
  }
  if (!flags.variant.empty()) parse_variants(flags.variant);
  if (!suite && !flags.match.empty()) throw Error("--match chooses rows of a --suite");
  if (flags.input.empty()) return;
  if (suite) throw Error("--suite brings its own images: --input is one too many");
  if (flags.size > 0 || flags.channels > 0 || !flags.cls.empty()) {
    throw Error("--input has its own size, class and channels");
  }
}

// Several devices, or what only their tables have.
bool compares(const BenchFlags& flags) {
  const std::string& device = flags.device.device;
  const bool several = device.find(',') != std::string::npos || device.rfind("cpu:", 0) == 0;
  if (several || flags.markdown || flags.csv || flags.naive || !flags.html.empty()) return true;
  if (!flags.variant.empty() && flags.variant != no_variants) return true;
  if (flags.suite.empty() || flags.suite == every_suite) return !flags.suite.empty();
  const std::vector<SuiteRow> rows = find_suite(flags.suite).rows();
  const bool varied = flags.variant.empty();
  return std::any_of(rows.begin(), rows.end(), [&](const SuiteRow& row) {
    return row.host_only || row.copy || row.decodes > 0 || (varied && !row.variants.empty());
  });
}

// The rows on one device, each printed when it is there.
int run_rows(const BenchFlags& flags) {
  const bool suite = !flags.suite.empty();
  const nlohmann::ordered_json before = read_older(flags);
  write_report("--report", flags.report, "");  // before minutes of measuring
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  std::vector<WantedRow> wanted = rows_of(flags);
  std::vector<pipeline::Pipeline> pipelines;
  std::vector<engine::BenchmarkOptions> options;
  for (WantedRow& one : wanted) {
    pipelines.push_back(pipeline_of(one.row.pipeline, sandbox));
    options.push_back(options_of(one.row, flags));
    if (!flags.input.empty() || pipelines.back().has_source()) one.row.size = 0;
  }
  engine::Benchmark benchmark(flags.device, parse_threads(flags.threads));
  std::vector<std::pair<const pipeline::Pipeline*, engine::BenchmarkOptions>> all;
  for (size_t i = 0; i < wanted.size(); ++i) all.emplace_back(&pipelines[i], options[i]);
  benchmark.prepare(all);
  std::vector<BenchRow> rows;
  bool failed = false;
  if (!flags.json) write_stdout(bench_head(suite));
  for (size_t i = 0; i < wanted.size(); ++i) {
    BenchRow row{.what = wanted[i].row, .result = {}, .error = {}};
    try {
      row.result = benchmark.run(pipelines[i], options[i]);
    } catch (const Error& error) {
      // One row of a suite may be beyond a device; a pipeline that was asked for may not.
      if (!suite) throw;
      row.error = error.what();
      failed = true;
    }
    rows.push_back(std::move(row));
    if (!flags.json) write_stdout(bench_line(rows.back(), suite));
  }
  if (!flags.json && suite && find_suite(flags.suite).one_operator) {
    write_stdout(bench_spread(rows));
  }
  if (!flags.json && suite) {
    if (const auto findings = find_suite(flags.suite).findings) {
      const std::vector<std::string> lines = findings(rows);
      write_stdout(std::to_string(lines.size()) + " findings\n");
      for (const std::string& line : lines) write_stdout(line + "\n");
    }
  }
  const std::string json = bench_json(rows, flags.suite, benchmark);
  if (flags.json) write_stdout(json);
  if (!before.is_null()) {
    tell_changes(before, nlohmann::ordered_json::parse(json), form_of(flags));
  }
  write_report("--report", flags.report, json);
  return failed ? static_cast<int>(ExitCode::file_failed) : 0;
}

int run_benchmarks(const BenchFlags& flags) {
  if (flags.suite == no_suite) return list_suites();
  check_flags(flags);
  return compares(flags) ? run_comparison(flags) : run_rows(flags);
}

constexpr const char* variants_help =
    "Variants of kernels, of the same results: words joined by +, several behind commas.\n"
    "  naive       a pixel a work-item, each neighbour from memory\n"
    "  local       a pixel a work-item, neighbours from the group's local memory\n"
    "  aligned     as local, loaded from multiples of 128 bytes\n"
    "  conflicts   as local, pixels side by side in one bank of it\n"
    "  rolled, unrolled  the loops over windows of those four\n"
    "  atomic      histograms: an addition to global memory a pixel\n"
    "  tagged      histograms: counted in local memory without atomic additions\n"
    "  pixels=N    of a work-item, where no neighbours are read: 1, 2, 4, 8 or 16\n"
    "  width=N     bytes of a work-item of the suites' plain copy: 1, 2, 4, 8 or 16\n";

}  // namespace

void add_bench(CommandSet& commands) {
  Command& command = commands.add("bench");
  command.usage = "impipe bench PIPELINE...";
  command.summary =
      "Time pipelines on an image in memory: the device's time, and decoded pixels to result";
  command.examples =
      "impipe bench 'medfilt2 5' 'imadjust | conv2 k7 | edge prewitt'\n"
      "impipe bench --size 4096 --class uint16 -j 1 'imgaussfilt 2'\n"
      "impipe bench --device cpu:1,cpu,cuda:0 'imadjust | conv2 k7 | edge prewitt'\n"
      "impipe bench --device cuda:0 --suite primitives --json\n"
      "impipe bench --device cpu:1,cpu,cuda:0 --suite ipt --naive --html report.html\n"
      "impipe bench --device cuda:0 --variant naive,local,local+unrolled 'imgaussfilt 2'\n";
  command.notes = variants_help;
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* app = command.app;
  command.takes(flags->pipelines);
  option(app, "--suite", flags->suite, "NAME",
         "The rows of a suite, or all; without NAME lists them")
      ->expected(0, 1)
      ->default_str(no_suite);
  option(app, "--match", flags->match, "TEXT", "Of a suite the rows with TEXT in their names");
  option(app, "--size", flags->size, "N", "Side of the made image (default 2048)")
      ->check(in_range(1, 65536));
  option(app, "--max-pixels", flags->max_pixels, "N",
         "Refuse larger sources and results (default 1073M)");
  option(app, "--class", flags->cls, "CLASS", "Of the made image (default uint8)");
  option(app, "--channels", flags->channels, "N", "Of the made image: 1 or 3")
      ->check(one_or_three());
  option(app, "--stack", flags->stack, "N",
         "Equal images, in one launch where the device can, else one after the other")
      ->check(in_range(1, 1024));
  option(app, "--input", flags->input, "FILE", "A picture instead of the made image");
  option(app, "--repeat", flags->repeat, "N", "Runs to the result (default: about a second's)")
      ->check(in_range(1, 1000000));
  option(app, "-j,--threads", flags->threads, "N", "Threads (default: all cores)");
  option(app, "--backend", flags->device.backend, "NAME", "auto, or a backend");
  option(app, "--device", flags->device.device, "ID",
         "A device of impipe devices, or several to compare: cpu:1,cpu,cuda:0")
      ->transform(auto_as_none);
  option(app, "--variant", flags->variant, "LIST",
         "Other kernels of GPUs beside the usual ones, or none of a suite's");
  add_sandbox(app, flags->sandbox);
  flag(app, "--naive", flags->naive, "A suite's rows beside plain loops of one thread");
  flag(app, "--no-fuse", flags->no_fuse, "Run each operator on its own");
  flag(app, "--in-cache", flags->in_cache,
       "Runs to the result may find their image in a cache, as loops of other programs do");
  flag(app, "--json", flags->json, "As JSON");
  flag(app, "--markdown", flags->markdown, "As a table of Markdown");
  flag(app, "--csv", flags->csv, "As comma-separated values");
  option(app, "--against", flags->against, "OLD.json",
         "Say what changed beyond the noise since that --json or --report");
  option(app, "--report", flags->report, "FILE", "Write the JSON to FILE and the table to stdout");
  option(app, "--html", flags->html, "FILE", "Draw a suite's figures on a page of HTML");
  command.run = [flags] { return run_benchmarks(*flags); };
}

}  // namespace impipe::cli
