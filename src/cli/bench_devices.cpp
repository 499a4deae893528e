#include "cli/bench_devices.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::cli {
namespace {

// Each pipeline on a device, fused and not.
void add_rows(const ComparedDevice& device, const std::vector<pipeline::Pipeline>& pipelines,
              const BenchFlags& flags, std::vector<std::vector<ComparedRow>>& tables) {
  std::optional<engine::Benchmark> benchmark;
  std::string why_not;
  try {
    benchmark.emplace(device.choice, device.threads);
  } catch (const Error& error) {
    if (error.code() != ExitCode::backend) throw;
    why_not = error.what();
  }
  for (size_t i = 0; i < pipelines.size(); ++i) {
    for (const bool fused : {true, false}) {
      if ((flags.no_fuse && fused) || (!fused && !benchmark)) continue;
      ComparedRow row;
      row.pipeline = pipelines[i].text;
      row.device = device.name;
      row.threads = device.threads;
      row.fused = fused;
      row.error = why_not;
      if (benchmark) {
        measure(row, *benchmark, options_of(flags), false,
                [&](const auto& options) { return benchmark->run(pipelines[i], options); });
      }
      tables[i].push_back(std::move(row));
    }
  }
}

}  // namespace

std::vector<ComparedDevice> compared_devices(const BenchFlags& flags) {
  if (flags.stack > 1) throw Error("--stack takes one device");
  if (flags.device.backend != "auto") {
    throw Error("--device names the backends: leave --backend out");
  }
  return parse_compared(flags.device.device.empty() ? "cpu" : flags.device.device,
                        parse_threads(flags.threads));
}

void measure(ComparedRow& row, const engine::Benchmark& benchmark, engine::BenchmarkOptions options,
             bool may_fail, const Measure& run) {
  constexpr int min_runs = 5;
  row.info = benchmark.device();
  row.copy_speed = benchmark.copy_speed();
  options.session.fuse = row.fused;
  if (options.repeat > 0) options.repeat = std::max(options.repeat, min_runs);
  try {
    row.result = run(options);
  } catch (const Error& error) {
    if (!may_fail) throw;
    row.error = error.what();
  }
}

int run_comparison(const BenchFlags& flags) {
  const std::vector<ComparedDevice> devices = compared_devices(flags);
  const TableForm form = form_of(flags);
  const nlohmann::ordered_json before = read_older(flags);
  write_report("--report", flags.report, "");  // before minutes of measuring
  const std::vector<pipeline::Pipeline> pipelines = pipelines_of(flags);
  if (form == TableForm::csv) write_stdout(comparison_csv_head());
  std::vector<std::vector<ComparedRow>> tables(pipelines.size());
  for (const ComparedDevice& device : devices) add_rows(device, pipelines, flags, tables);
  std::vector<ComparedRow> all;
  for (std::vector<ComparedRow>& rows : tables) {
    relate(rows);
    if (form != TableForm::json) write_stdout(comparison_text(rows, form));
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  const nlohmann::ordered_json json = comparison_value(all);
  write_report("--report", flags.report, json.dump() + "\n");
  if (form == TableForm::json) write_stdout(json.dump() + "\n");
  if (!before.is_null()) tell_changes(before, json, form);
  const auto missing = [](const ComparedRow& row) { return !row.error.empty(); };
  const auto differs = [](const ComparedRow& row) { return !row.same_bits; };
  if (std::any_of(all.begin(), all.end(), missing)) return static_cast<int>(ExitCode::backend);
  const bool failed = std::any_of(all.begin(), all.end(), differs);
  return failed ? static_cast<int>(ExitCode::file_failed) : 0;
}

}  // namespace impipe::cli
