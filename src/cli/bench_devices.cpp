// impipe bench with several devices, plain loops or a page: each row on each device in turn.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "cli/bench_flags.hpp"
#include "cli/bench_variants.hpp"
#include "cli/published.hpp"
#include "cli/standard_output.hpp"
#include "cli/suite_report.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::cli {
namespace {

using Tables = std::vector<std::vector<ComparedRow>>;  // one a wanted row

ComparedRow row_for(const WantedRow& wanted, const std::string& device, int threads) {
  ComparedRow row;
  row.pipeline = wanted.row.pipeline;
  row.device = device;
  row.threads = threads;
  row.fused = wanted.row.fuse;
  if (wanted.suite != nullptr) {
    row.suite = wanted.suite->name;
    row.name = wanted.row.name;
    row.series = wanted.row.series;
    row.x = wanted.row.x;
    row.stack = wanted.row.stack;
  }
  return row;
}

pipeline::Pipeline pipeline_for(const SuiteRow& row, const engine::Sandbox& sandbox) {
  return row.host_only || row.copy || row.decodes > 0 ? pipeline::Pipeline{}
                                                      : pipeline_of(row.pipeline, sandbox);
}

// The plain loops, where a row has one.
void add_loops(const std::vector<WantedRow>& wanted, const BenchFlags& flags,
               const engine::Sandbox& sandbox, Tables& tables) {
  engine::Benchmark benchmark({.backend = "cpu", .device = {}}, 1);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const SuiteRow& what = wanted[i].row;
    if (!what.naive || (!flags.naive && !what.host_only)) continue;
    ComparedRow row = row_for(wanted[i], what.host_only ? host_name : loop_name, 1);
    const pipeline::Pipeline pipeline = pipeline_for(what, sandbox);
    try {
      row.result = benchmark.run_loop(what.naive, pipeline, options_of(what, flags));
    } catch (const Error& error) {
      row.error = error.what();
    }
    tables[i].push_back(std::move(row));
  }
}

ComparedRow measured(engine::Benchmark& benchmark, const WantedRow& wanted, ComparedRow row,
                     const pipeline::Pipeline& pipeline, engine::BenchmarkOptions options) {
  constexpr int min_runs = 5;
  row.info = benchmark.device();
  row.copy_speed = benchmark.copy_speed();
  options.session.fuse = row.fused;
  options.wall = options.stack == 1;
  row.computed = options.wall || wanted.row.copy || wanted.row.decodes > 0;
  if (options.repeat > 0) options.repeat = std::max(options.repeat, min_runs);
  try {
    if (wanted.row.decodes > 0) {
      const std::int64_t width = options.size.width;
      row.result = benchmark.run_decoder(wanted.row.decodes,
                                         {width, std::max<std::int64_t>(1, width * 9 / 16)});
    } else {
      row.result = wanted.row.copy ? benchmark.run_copy(options) : benchmark.run(pipeline, options);
    }
  } catch (const Error& error) {
    // One row of a suite may be beyond a device; a pipeline that was asked for may not.
    if (wanted.suite == nullptr) throw;
    row.error = error.what();
  }
  return row;
}

// Each row on a device; pipelines of the command line fused and not.
void add_rows(const ComparedDevice& device, const std::vector<WantedRow>& wanted,
              const BenchFlags& flags, const engine::Sandbox& sandbox, Tables& tables) {
  std::optional<engine::Benchmark> benchmark;
  std::string why_not;
  try {
    benchmark.emplace(device.choice, device.threads);
  } catch (const Error& error) {
    if (error.code() != ExitCode::backend) throw;
    why_not = error.what();
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].row.host_only) continue;
    const pipeline::Pipeline pipeline = pipeline_for(wanted[i].row, sandbox);
    for (const bool fused : {true, false}) {
      const bool asked = wanted[i].suite != nullptr
                             ? fused == (wanted[i].row.fuse && !flags.no_fuse)
                             : !(flags.no_fuse && fused);
      if (!asked || (!fused && !benchmark)) continue;
      ComparedRow row = row_for(wanted[i], device.name, device.threads);
      row.fused = fused;
      row.error = why_not;
      if (benchmark) {
        row = measured(*benchmark, wanted[i], std::move(row), pipeline,
                       options_of(wanted[i].row, flags));
      }
      tables[i].push_back(std::move(row));
    }
  }
}

// The variants of rows, in the order in which they come first.
std::vector<std::string> variants_of(const std::vector<WantedRow>& wanted) {
  std::vector<std::string> all;
  for (const WantedRow& one : wanted) {
    for (const std::string& name : one.row.variants) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return all;
}

bool is_cpu(const std::string& device) { return device == "cpu" || device.starts_with("cpu:"); }

// The rows that have variants; the CPU's kernels have none.
void add_variants(const ComparedDevice& device, const std::vector<WantedRow>& wanted,
                  const BenchFlags& flags, const engine::Sandbox& sandbox, Tables& tables) {
  if (is_cpu(device.name)) return;
  for (const std::string& name : variants_of(wanted)) {
    std::optional<engine::Benchmark> benchmark;
    try {
      benchmark.emplace(device.choice, device.threads, parse_variant(name));
    } catch (const Error& error) {
      if (error.code() != ExitCode::backend) throw;
      return;  // add_rows has said why
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      const std::vector<std::string>& of_row = wanted[i].row.variants;
      if (std::find(of_row.begin(), of_row.end(), name) == of_row.end()) continue;
      ComparedRow row = row_for(wanted[i], device.name, device.threads);
      row.variant = name;
      row.fused = row.fused && !flags.no_fuse;
      tables[i].push_back(measured(*benchmark, wanted[i], std::move(row),
                                   pipeline_for(wanted[i].row, sandbox),
                                   options_of(wanted[i].row, flags)));
    }
  }
}

void check_comparison(const BenchFlags& flags) {
  if (flags.stack > 1) throw Error("--stack takes one device");
  if (flags.device.backend != "auto") {
    throw Error("--device names the backends: leave --backend out");
  }
  if (flags.suite.empty() && flags.naive) {
    throw Error("--naive: the suites have plain loops: impipe bench --suite NAME --naive");
  }
  if (flags.suite.empty() && !flags.html.empty()) {
    throw Error("--html draws suites: impipe bench --suite NAME --html FILE");
  }
  for (const std::string& path : {flags.report, flags.html}) {  // before minutes of measuring
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
      throw Error(path + " can't be written", ExitCode::file_failed);
    }
  }
}

// Rows of one suite each; those of the command line are together.
std::vector<std::vector<WantedRow>> by_suite(std::vector<WantedRow> rows) {
  std::vector<std::vector<WantedRow>> suites;
  for (WantedRow& row : rows) {
    if (suites.empty() || suites.back().front().suite != row.suite) suites.emplace_back();
    suites.back().push_back(std::move(row));
  }
  return suites;
}

// Each row on every device, beside the first. Images are compared and let go: those of a suite may
// take gigabytes.
Tables compared(const std::vector<WantedRow>& wanted, const std::vector<ComparedDevice>& devices,
                const BenchFlags& flags, const engine::Sandbox& sandbox) {
  Tables tables(wanted.size());
  add_loops(wanted, flags, sandbox, tables);
  for (const ComparedDevice& device : devices) {
    add_rows(device, wanted, flags, sandbox, tables);
    add_variants(device, wanted, flags, sandbox, tables);
  }
  for (std::vector<ComparedRow>& rows : tables) {
    relate(rows);
    for (ComparedRow& row : rows) row.result.outcome = {};
  }
  return tables;
}

std::string tables_text(const Tables& tables, TableForm form) {
  const bool suite =
      !tables.empty() && !tables.front().empty() && !tables.front().front().suite.empty();
  if (suite && form != TableForm::csv) return suites_text(tables, form);
  std::string text;
  for (const std::vector<ComparedRow>& rows : tables) text += comparison_text(rows, form);
  return text;
}

}  // namespace

int run_comparison(const BenchFlags& flags) {
  check_comparison(flags);
  const TableForm form = form_of(flags);
  const nlohmann::ordered_json before = read_older(flags);
  const std::string names = flags.device.device.empty() ? "cpu" : flags.device.device;
  const std::vector<ComparedDevice> devices = parse_compared(names, parse_threads(flags.threads));
  const bool varied = !flags.variant.empty() && flags.variant != no_variants;
  if (varied && std::all_of(devices.begin(), devices.end(),
                            [](const ComparedDevice& device) { return is_cpu(device.name); })) {
    throw Error("--variant: kernels of GPUs and of OpenCL have variants, and the devices are " +
                names);
  }
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  const std::vector<std::vector<WantedRow>> suites = by_suite(rows_of(flags));
  if (form == TableForm::csv) write_stdout(comparison_csv_head());
  std::vector<ComparedRow> all;
  std::vector<PublishedHere> published;
  nlohmann::ordered_json json;
  for (const std::vector<WantedRow>& wanted : suites) {
    Tables tables = compared(wanted, devices, flags, sandbox);
    const bool apart = !all.empty() && form != TableForm::csv;
    if (form != TableForm::json) write_stdout((apart ? "\n" : "") + tables_text(tables, form));
    for (PublishedHere& here : published_here(tables)) published.push_back(std::move(here));
    for (std::vector<ComparedRow>& rows : tables) {
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    }
    // After each suite: what is there stays when a later one is stopped.
    json = comparison_value(all);
    if (!published.empty()) json["published"] = published_value(published);
    write_report("--report", flags.report, json.dump() + "\n");
    if (!flags.html.empty()) write_report("--html", flags.html, suites_page(json));
  }
  if (form == TableForm::json) write_stdout(json.dump() + "\n");
  if (!before.is_null()) tell_changes(before, json, form);
  const auto missing = [](const ComparedRow& row) { return !row.error.empty(); };
  const auto differs = [](const ComparedRow& row) { return !row.same_bits; };
  if (flags.suite.empty() && std::any_of(all.begin(), all.end(), missing)) {
    return static_cast<int>(ExitCode::backend);
  }
  const bool failed =
      std::any_of(all.begin(), all.end(), differs) || std::any_of(all.begin(), all.end(), missing);
  return failed ? static_cast<int>(ExitCode::file_failed) : 0;
}

}  // namespace impipe::cli
