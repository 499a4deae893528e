// impipe-bench: suites of pipelines, after the measurements of papers too, with plain loops and
// variants of kernels; `impipe bench` measures pipelines.
#include "bench/suite_command.hpp"

#include <algorithm>
#include <utility>

#include "bench/form_times.hpp"
#include "bench/suite_flags.hpp"
#include "bench/suite_report.hpp"
#include "bench/variants.hpp"
#include "cli/json_text.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::bench {
namespace {

int list_suites() {
  for (const Suite& suite : all_suites()) {
    cli::write_stdout(std::string(suite.name) + "  " + suite.summary + "\n");
  }
  cli::write_stdout(std::string(every_suite) + "  each of them but sweep and colour\n");
  return 0;
}

// Throws Error where one flag excludes another.
void check_flags(const SuiteFlags& flags) {
  const bool suite = !flags.suite.empty();
  if (!suite && flags.pipelines.empty()) {
    throw Error("no suite given: impipe-bench --suite NAME; impipe-bench --suite lists them");
  }
  if (suite && !flags.pipelines.empty()) {
    throw Error("--suite brings its own pipelines: '" + flags.pipelines.front() +
                "' is one too many");
  }
  if (!flags.variant.empty()) parse_variants(flags.variant);
  if (!suite && !flags.match.empty()) throw Error("--match chooses rows of a --suite");
  if (suite && !flags.input.empty()) {
    throw Error("--suite brings its own images: --input is one too many");
  }
  cli::check_input(flags);
}

// Several devices, or what only their tables have.
bool compares(const SuiteFlags& flags) {
  if (cli::compares(flags) || flags.naive || !flags.html.empty()) return true;
  if (!flags.variant.empty() && flags.variant != no_variants) return true;
  if (flags.suite.empty() || flags.suite == every_suite) return true;
  const std::vector<SuiteRow> rows = find_suite(flags.suite).rows();
  const bool varied = flags.variant.empty();
  return std::any_of(rows.begin(), rows.end(), [&](const SuiteRow& row) {
    return row.host_only || row.copy || row.decodes > 0 || (varied && !row.variants.empty());
  });
}

// Each row measured, and printed when it is.
std::vector<BenchRow> measured(const std::vector<WantedRow>& wanted, const SuiteFlags& flags,
                               engine::Benchmark& benchmark) {
  std::vector<pipeline::Pipeline> pipelines;
  std::vector<engine::BenchmarkOptions> options;
  for (const WantedRow& one : wanted) {
    pipelines.push_back(cli::pipeline_of(one.row.pipeline, engine::make_sandbox(flags.sandbox)));
    options.push_back(options_of(one.row, flags));
  }
  std::vector<std::pair<const pipeline::Pipeline*, engine::BenchmarkOptions>> all;
  for (size_t i = 0; i < wanted.size(); ++i) all.emplace_back(&pipelines[i], options[i]);
  benchmark.prepare(all);
  std::vector<BenchRow> rows;
  for (size_t i = 0; i < wanted.size(); ++i) {
    BenchRow row{.what = wanted[i].row, .result = {}, .error = {}};
    if (pipelines[i].has_source()) row.what.size = 0;
    try {
      row.result = benchmark.run(pipelines[i], options[i]);
    } catch (const Error& error) {  // one row may be beyond a device
      row.error = error.what();
    }
    rows.push_back(std::move(row));
    if (!flags.json) cli::write_stdout(suite_line(rows.back()));
  }
  return rows;
}

// A suite on one device.
int run_suite(const SuiteFlags& flags) {
  const nlohmann::ordered_json before = cli::read_older(flags);
  cli::write_report("--report", flags.report, "");  // before minutes of measuring
  const std::vector<WantedRow> wanted = rows_of(flags);
  const Suite& suite = find_suite(flags.suite);
  engine::Benchmark benchmark(flags.device, cli::parse_threads(flags.threads));
  if (!flags.json) cli::write_stdout(suite_head());
  const std::vector<BenchRow> rows = measured(wanted, flags, benchmark);
  const nlohmann::ordered_json json = suite_value(suite, rows, benchmark);
  if (flags.json) {
    cli::write_stdout(cli::json_text(json) + "\n");
  } else {
    if (suite.one_operator) cli::write_stdout(suite_spread(rows));
    if (suite.findings != nullptr) {
      cli::write_stdout(std::to_string(json["findings"].size()) + " findings\n");
      for (const std::string line : json["findings"]) cli::write_stdout(line + "\n");
    }
  }
  if (!before.is_null()) cli::tell_changes(before, json, cli::form_of(flags));
  cli::write_report("--report", flags.report, cli::json_text(json) + "\n");
  const bool failed =
      std::any_of(rows.begin(), rows.end(), [](const BenchRow& row) { return !row.error.empty(); });
  return failed ? static_cast<int>(ExitCode::file_failed) : 0;
}

int run_suites(const SuiteFlags& flags) {
  if (flags.suite == no_suite) return list_suites();
  check_flags(flags);
  if (flags.forms > 0) return time_forms(flags);
  return compares(flags) ? compare_suites(flags) : run_suite(flags);
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

void describe_suites(cli::Command& command) {
  command.usage = "impipe-bench --suite NAME";
  command.summary = "Time suites of pipelines, plain loops and variants of kernels";
  command.examples =
      "impipe-bench --device cuda:0 --suite primitives --json\n"
      "impipe-bench --device cpu:1,cpu,cuda:0 --suite ipt --naive --html report.html\n"
      "impipe-bench --device cuda:0 --variant naive,local,local+unrolled 'imgaussfilt 2'\n";
  command.notes = variants_help;
  auto flags = std::make_shared<SuiteFlags>();
  CLI::App* app = command.app;
  command.takes(flags->pipelines);
  cli::option(app, "--suite", flags->suite, "NAME",
              "The rows of a suite, or all; without NAME lists them")
      ->expected(0, 1)
      ->default_str(no_suite);
  cli::option(app, "--match", flags->match, "TEXT", "Of a suite the rows with TEXT in their names");
  cli::add_bench_flags(app, *flags);
  cli::option(app, "--variant", flags->variant, "LIST",
              "Other kernels of GPUs beside the usual ones, or none of a suite's");
  cli::option(app, "--forms", flags->forms, "N",
              "Draw N rows of a suite and time each form that can make them");
  cli::option(app, "--seed", flags->seed, "N", "Of the draw");
  cli::flag(app, "--naive", flags->naive, "A suite's rows beside plain loops of one thread");
  cli::option(app, "--html", flags->html, "FILE", "Draw a suite's figures on a page of HTML");
  command.run = [flags] { return run_suites(*flags); };
}

}  // namespace impipe::bench
