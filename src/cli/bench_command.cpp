// impipe bench: how fast pipelines run here, on the device's clock and from decoded pixels to
// result.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/bench_report.hpp"
#include "cli/bench_suites.hpp"
#include "cli/command.hpp"
#include "cli/comparison.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/benchmark.hpp"

namespace impipe::cli {
namespace {

constexpr int usual_size = 2048;
constexpr const char* no_suite = "?";  // --suite without a name

struct BenchFlags {
  std::vector<std::string> pipelines;
  engine::DeviceChoice device;
  std::string suite, match;
  std::string cls, max_pixels, sandbox;
  int size = 0;
  int channels = 0;  // 0: not said
  int stack = 1;
  std::string input;
  int repeat = 0;
  int threads = 0;
  bool no_fuse = false;
  bool json = false, markdown = false, csv = false;
  std::string report;   // a file for the JSON, beside the table
  std::string against;  // an older one
};

pipeline::Pipeline pipeline_of(const std::string& text, const engine::Sandbox& sandbox) {
  std::vector<std::string> argument = {text};
  return take_pipeline(argument, "", sandbox);
}

std::vector<SuiteRow> rows_of(const BenchFlags& flags) {
  std::vector<SuiteRow> rows;
  const bool has_class = !flags.cls.empty();
  const PixelClass cls = has_class ? parse_class("--class", flags.cls) : PixelClass::uint8;
  if (flags.suite.empty()) {
    for (const std::string& text : flags.pipelines) {
      rows.push_back({.name = text,
                      .pipeline = text,
                      .cls = cls,
                      .size = flags.size > 0 ? flags.size : usual_size});
    }
    return rows;
  }
  const auto same = [](const SuiteRow& a, const SuiteRow& b) {
    return a.name == b.name && a.cls == b.cls && a.size == b.size;
  };
  std::vector<SuiteRow> resized;
  for (SuiteRow& row : find_suite(flags.suite).rows()) {
    if (has_class && row.cls != cls) continue;
    if (row.name.find(flags.match) == std::string::npos) continue;
    if (flags.size == 0 || flags.size == row.size) {
      rows.push_back(std::move(row));
      continue;
    }
    row.size = flags.size;
    resized.push_back(std::move(row));
  }
  // Rows that the suite has at several sizes are one now.
  for (SuiteRow& row : resized) {
    if (std::none_of(rows.begin(), rows.end(), [&](const SuiteRow& r) { return same(r, row); })) {
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) {
    throw Error("the suite " + flags.suite + " has no such row; see impipe bench --suite " +
                flags.suite + " without --class and --match");
  }
  return rows;
}

std::string with_size(std::string text, int size) {
  constexpr std::string_view field = "{size}";
  for (size_t at; (at = text.find(field)) != std::string::npos;) {
    text.replace(at, field.size(), std::to_string(size));
  }
  return text;
}

engine::BenchmarkOptions options_of(const SuiteRow& row, const BenchFlags& flags) {
  engine::BenchmarkOptions options{
      .session = {.fuse = !flags.no_fuse, .strict = false},
      .size = {row.size, row.size},
      .cls = row.cls,
      .channels = std::max(1, flags.channels),
      .input = flags.input,
      .sources = {},
      .max_pixels = flags.max_pixels.empty() ? pipeline::default_max_pixels
                                             : parse_amount("--max-pixels", flags.max_pixels, 1000),
      .stack = flags.stack,
      .wall = flags.suite.empty() && flags.stack == 1,
      .repeat = flags.repeat};
  for (const auto& [name, text] : row.images) {
    options.sources.emplace(name, pipeline_of(with_size(text, row.size), {}));
  }
  return options;
}

int list_suites() {
  for (const Suite& suite : all_suites()) {
    write_stdout(std::string(suite.name) + "  " + suite.summary + "\n");
  }
  return 0;
}

[[noreturn]] void fail_report(const std::string& path) {
  throw Error("--report: " + path + " can't be written", ExitCode::file_failed);
}

// Beside a table on stdout, else on stderr.
void tell_changes(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                  TableForm form) {
  std::string text = changes_text(before, now);
  if (form == TableForm::text) return write_stdout(text);
  text.pop_back();
  write_stderr(text);
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
  if (!suite && !flags.match.empty()) throw Error("--match chooses rows of a --suite");
  if (flags.input.empty()) return;
  if (suite) throw Error("--suite brings its own images: --input is one too many");
  if (flags.size > 0 || flags.channels > 0 || !flags.cls.empty()) {
    throw Error("--input has its own size, class and channels");
  }
}

// Several devices, or a form that only their table has.
bool compares(const BenchFlags& flags) {
  const std::string& device = flags.device.device;
  return device.find(',') != std::string::npos || device.rfind("cpu:", 0) == 0 || flags.markdown ||
         flags.csv;
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

nlohmann::ordered_json read_bench(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("--against: " + path + ": it cannot be read", ExitCode::file_failed);
  auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  if (json.is_discarded()) {
    throw Error("--against: " + path + " is no JSON", ExitCode::file_failed);
  }
  return json;
}

// Each pipeline on a device, fused and not.
void add_rows(const ComparedDevice& device, const std::vector<SuiteRow>& wanted,
              const BenchFlags& flags, const engine::Sandbox& sandbox,
              std::vector<std::vector<ComparedRow>>& tables) {
  constexpr int min_runs = 5;
  std::optional<engine::Benchmark> benchmark;
  std::string why_not;
  try {
    benchmark.emplace(device.choice, device.threads);
  } catch (const Error& error) {
    if (error.code() != ExitCode::backend) throw;
    why_not = error.what();
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const pipeline::Pipeline pipeline = pipeline_of(wanted[i].pipeline, sandbox);
    for (const bool fused : {true, false}) {
      if ((flags.no_fuse && fused) || (!fused && !benchmark)) continue;
      ComparedRow row;
      row.pipeline = wanted[i].pipeline;
      row.device = device.name;
      row.threads = device.threads;
      row.fused = fused;
      row.error = why_not;
      if (benchmark) {
        engine::BenchmarkOptions options = options_of(wanted[i], flags);
        options.session.fuse = fused;
        options.wall = true;
        if (options.repeat > 0) options.repeat = std::max(options.repeat, min_runs);
        row.info = benchmark->device();
        row.result = benchmark->run(pipeline, options);
      }
      tables[i].push_back(std::move(row));
    }
  }
}

// A table for each pipeline.
int run_comparison(const BenchFlags& flags) {
  if (!flags.suite.empty()) throw Error("--suite takes one device, and is printed or --json");
  if (flags.stack > 1) throw Error("--stack takes one device");
  if (flags.device.backend != "auto")
    throw Error("--device names the backends: leave --backend out");
  const TableForm form = form_of(flags);
  const nlohmann::ordered_json before =
      flags.against.empty() ? nlohmann::ordered_json() : read_bench(flags.against);
  const std::string names = flags.device.device.empty() ? "cpu" : flags.device.device;
  const std::vector<ComparedDevice> devices = parse_compared(names, parse_threads(flags.threads));
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  const std::vector<SuiteRow> wanted = rows_of(flags);
  std::vector<std::vector<ComparedRow>> tables(wanted.size());
  for (const ComparedDevice& device : devices) add_rows(device, wanted, flags, sandbox, tables);
  std::vector<ComparedRow> all;
  if (form == TableForm::csv) write_stdout(comparison_csv_head());
  for (std::vector<ComparedRow>& rows : tables) {
    relate(rows);
    if (form != TableForm::json) write_stdout(comparison_text(rows, form));
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  if (form == TableForm::json) write_stdout(comparison_text(all, form));
  if (!flags.report.empty() &&
      !(std::ofstream(flags.report) << comparison_text(all, TableForm::json) << std::flush)) {
    fail_report(flags.report);
  }
  if (!before.is_null()) tell_changes(before, comparison_value(all), form);
  const auto missing = [](const ComparedRow& row) { return !row.error.empty(); };
  const auto differs = [](const ComparedRow& row) { return !row.same_bits; };
  if (std::any_of(all.begin(), all.end(), missing)) return static_cast<int>(ExitCode::backend);
  return std::any_of(all.begin(), all.end(), differs) ? static_cast<int>(ExitCode::file_failed) : 0;
}

int run_benchmarks(const BenchFlags& flags) {
  if (flags.suite != no_suite && compares(flags)) {
    check_flags(flags);
    return run_comparison(flags);
  }
  if (flags.suite == no_suite) return list_suites();
  const bool suite = !flags.suite.empty();
  check_flags(flags);
  const nlohmann::ordered_json before =
      flags.against.empty() ? nlohmann::ordered_json() : read_bench(flags.against);
  std::ofstream report;
  if (!flags.report.empty()) report.open(flags.report);  // before minutes of measuring
  if (!report) fail_report(flags.report);
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  std::vector<SuiteRow> wanted = rows_of(flags);
  std::vector<pipeline::Pipeline> pipelines;
  std::vector<engine::BenchmarkOptions> options;
  for (SuiteRow& row : wanted) {
    pipelines.push_back(pipeline_of(row.pipeline, sandbox));
    options.push_back(options_of(row, flags));
    if (!flags.input.empty() || pipelines.back().has_source()) row.size = 0;
  }
  engine::Benchmark benchmark(flags.device, parse_threads(flags.threads));
  std::vector<std::pair<const pipeline::Pipeline*, engine::BenchmarkOptions>> all;
  for (size_t i = 0; i < wanted.size(); ++i) all.emplace_back(&pipelines[i], options[i]);
  benchmark.prepare(all);
  std::vector<BenchRow> rows;
  bool failed = false;
  if (!flags.json) write_stdout(bench_head(suite));
  for (size_t i = 0; i < wanted.size(); ++i) {
    BenchRow row{.what = wanted[i], .result = {}, .error = {}};
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
  if (flags.json) write_stdout(bench_json(rows, flags.suite, benchmark));
  if (!before.is_null()) {
    const std::string now = bench_json(rows, flags.suite, benchmark);
    tell_changes(before, nlohmann::ordered_json::parse(now),
                 flags.json ? TableForm::json : TableForm::text);
  }
  if (!flags.report.empty() &&
      !(report << bench_json(rows, flags.suite, benchmark) << std::flush)) {
    fail_report(flags.report);
  }
  return failed ? static_cast<int>(ExitCode::file_failed) : 0;
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
      "impipe bench --device cpu:1,cpu,cuda:0 'imadjust | conv2 k7 | edge prewitt'\n"
      "impipe bench --device cuda:0 --suite primitives --json\n";
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* app = command.app;
  command.takes(flags->pipelines);
  option(app, "--suite", flags->suite, "NAME", "The rows of a suite; without NAME lists them")
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
  option(app, "--stack", flags->stack, "N", "Equal images that a GPU computes in one launch")
      ->check(in_range(1, 1024));
  option(app, "--input", flags->input, "FILE", "A picture instead of the made image");
  option(app, "--repeat", flags->repeat, "N", "Runs to the result (default: about a second's)")
      ->check(in_range(1, 1000000));
  option(app, "-j,--threads", flags->threads, "N", "Threads (default: all cores)");
  option(app, "--backend", flags->device.backend, "NAME", "auto, or a backend");
  option(app, "--device", flags->device.device, "ID",
         "A device of impipe devices, or several to compare: cpu:1,cpu,cuda:0");
  add_sandbox(app, flags->sandbox);
  flag(app, "--no-fuse", flags->no_fuse, "Run each operator on its own");
  flag(app, "--json", flags->json, "As JSON");
  flag(app, "--markdown", flags->markdown, "As a table of Markdown");
  flag(app, "--csv", flags->csv, "As comma-separated values");
  option(app, "--against", flags->against, "OLD.json",
         "Say what changed beyond the noise since that --json or --report");
  option(app, "--report", flags->report, "FILE", "Write the JSON to FILE and the table to stdout");
  command.run = [flags] { return run_benchmarks(*flags); };
}

}  // namespace impipe::cli
