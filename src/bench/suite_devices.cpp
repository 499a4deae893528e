// Suites on several devices, beside plain loops, and with variants of kernels: each row on each
// device in turn.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "bench/published.hpp"
#include "bench/suite_benchmark.hpp"
#include "bench/suite_flags.hpp"
#include "bench/suite_report.hpp"
#include "bench/variants.hpp"
#include "cli/bench_devices.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"

namespace impipe::bench {
namespace {

// The names under which loops of the host stand in the place of devices: plain ones that compute
// what the devices compute, and those that are measured themselves.
constexpr const char* loop_name = "naive";
constexpr const char* host_name = "host";

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
                                                      : cli::pipeline_of(row.pipeline, sandbox);
}

// The plain loops, where a row has one.
void add_loops(const std::vector<WantedRow>& wanted, const SuiteFlags& flags,
               const engine::Sandbox& sandbox, Tables& tables) {
  SuiteBenchmark benchmark({.backend = "cpu", .device = {}}, 1);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const SuiteRow& what = wanted[i].row;
    if (!what.naive || (!flags.naive && !what.host_only)) continue;
    ComparedRow row = row_for(wanted[i], what.host_only ? host_name : loop_name, 1);
    row.computed = what.host_only;
    const pipeline::Pipeline pipeline = pipeline_for(what, sandbox);
    try {
      row.result = benchmark.run_loop(what.naive, pipeline, options_of(what, flags));
    } catch (const Error& error) {
      row.error = error.what();
    }
    tables[i].push_back(std::move(row));
  }
}

ComparedRow measured(SuiteBenchmark& benchmark, const WantedRow& wanted, ComparedRow row,
                     const pipeline::Pipeline& pipeline, engine::BenchmarkOptions options) {
  const SuiteRow& what = wanted.row;
  options.wall = options.stack == 1;
  row.computed = options.wall || what.copy || what.decodes > 0;
  // One row of a suite may be beyond a device; a pipeline of the command line may not.
  cli::measure(row, benchmark, options, wanted.suite != nullptr, [&](const auto& how) {
    if (what.decodes > 0) {
      const std::int64_t width = how.size.width;
      return benchmark.run_decoder(what.decodes,
                                   {width, std::max<std::int64_t>(1, width * 9 / 16)});
    }
    return what.copy ? benchmark.run_copy(how) : benchmark.run(pipeline, how);
  });
  return row;
}

// Each row on a device; pipelines of the command line fused and not.
void add_rows(const cli::ComparedDevice& device, const std::vector<WantedRow>& wanted,
              const SuiteFlags& flags, const engine::Sandbox& sandbox, Tables& tables) {
  std::optional<SuiteBenchmark> benchmark;
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
void add_variants(const cli::ComparedDevice& device, const std::vector<WantedRow>& wanted,
                  const SuiteFlags& flags, const engine::Sandbox& sandbox, Tables& tables) {
  if (is_cpu(device.name)) return;
  for (const std::string& name : variants_of(wanted)) {
    std::optional<SuiteBenchmark> benchmark;
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

void check_comparison(const SuiteFlags& flags) {
  if (flags.suite.empty() && flags.naive) {
    throw Error("--naive: the suites have plain loops: impipe-bench --suite NAME --naive");
  }
  if (flags.suite.empty() && !flags.html.empty()) {
    throw Error("--html draws suites: impipe-bench --suite NAME --html FILE");
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

// What the loops computed, compared with the first device that computed the same.
void relate_loops(std::vector<ComparedRow>& rows) {
  const auto computed = std::find_if(rows.begin(), rows.end(), [](const ComparedRow& row) {
    return row.error.empty() && row.computed;
  });
  if (computed == rows.end()) return;
  for (ComparedRow& row : rows) {
    if (row.device != loop_name || !row.error.empty()) continue;
    row.result.bytes = computed->result.bytes;
    row.same_bits = naive::agrees(computed->result.outcome, row.result.outcome);
  }
}

// Each row on every device, beside the first. Images are compared and let go: those of a suite may
// take gigabytes.
Tables compared(const std::vector<WantedRow>& wanted,
                const std::vector<cli::ComparedDevice>& devices, const SuiteFlags& flags,
                const engine::Sandbox& sandbox) {
  Tables tables(wanted.size());
  add_loops(wanted, flags, sandbox, tables);
  for (const cli::ComparedDevice& device : devices) {
    add_rows(device, wanted, flags, sandbox, tables);
    add_variants(device, wanted, flags, sandbox, tables);
  }
  for (std::vector<ComparedRow>& rows : tables) {
    cli::relate(rows);
    relate_loops(rows);
    for (ComparedRow& row : rows) row.result.outcome = {};
  }
  return tables;
}

std::string tables_text(const Tables& tables, TableForm form) {
  const bool suite =
      !tables.empty() && !tables.front().empty() && !tables.front().front().suite.empty();
  if (suite && form != TableForm::csv) return suites_text(tables, form);
  std::string text;
  for (const std::vector<ComparedRow>& rows : tables) text += cli::comparison_text(rows, form);
  return text;
}

}  // namespace

int compare_suites(const SuiteFlags& flags) {
  check_comparison(flags);
  const TableForm form = cli::form_of(flags);
  const nlohmann::ordered_json before = cli::read_older(flags);
  const std::vector<cli::ComparedDevice> devices = cli::compared_devices(flags);
  const bool varied = !flags.variant.empty() && flags.variant != no_variants;
  if (varied && std::all_of(devices.begin(), devices.end(), [](const cli::ComparedDevice& device) {
        return is_cpu(device.name);
      })) {
    throw Error("--variant: kernels of GPUs and of OpenCL have variants, and the devices are " +
                (flags.device.device.empty() ? "cpu" : flags.device.device));
  }
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  const std::vector<std::vector<WantedRow>> suites = by_suite(rows_of(flags));
  if (form == TableForm::csv) cli::write_stdout(cli::comparison_csv_head());
  std::vector<ComparedRow> all;
  std::vector<PublishedHere> published;
  nlohmann::ordered_json json;
  for (const std::vector<WantedRow>& wanted : suites) {
    Tables tables = compared(wanted, devices, flags, sandbox);
    const bool apart = !all.empty() && form != TableForm::csv;
    if (form != TableForm::json) cli::write_stdout((apart ? "\n" : "") + tables_text(tables, form));
    for (PublishedHere& here : published_here(tables)) published.push_back(std::move(here));
    for (std::vector<ComparedRow>& rows : tables) {
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    }
    // After each suite: what is there stays when a later one is stopped.
    json = cli::comparison_value(all);
    if (!published.empty()) json["published"] = published_value(published);
    cli::write_report("--report", flags.report, json.dump() + "\n");
    if (!flags.html.empty()) cli::write_report("--html", flags.html, suites_page(json));
  }
  if (form == TableForm::json) cli::write_stdout(json.dump() + "\n");
  if (!before.is_null()) cli::tell_changes(before, json, form);
  const auto missing = [](const ComparedRow& row) { return !row.error.empty(); };
  const auto differs = [](const ComparedRow& row) { return !row.same_bits; };
  if (flags.suite.empty() && std::any_of(all.begin(), all.end(), missing)) {
    return static_cast<int>(ExitCode::backend);
  }
  const bool failed =
      std::any_of(all.begin(), all.end(), differs) || std::any_of(all.begin(), all.end(), missing);
  return failed ? static_cast<int>(ExitCode::file_failed) : 0;
}

}  // namespace impipe::bench
