// Runs a pipeline over files again and again, on one device after the other.
#include "cli/compare_run.hpp"

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "engine/tools/spread.hpp"

namespace impipe::cli {
namespace {

// Keeps what the files' results were, to the bit.
class Results : public engine::Progress {
 public:
  void begin(std::int64_t) override {}
  bool file(const engine::FileReport& report) override {
    if (report.state == engine::FileReport::State::failed) {
      throw Error(report.input.string() + ": " + report.message, ExitCode::file_failed);
    }
    for (const engine::FileReport::Row& row : report.rows) {
      text += report.input.string() + " " + row.hash;
      for (const double value : row.values) add(value);
      for (const double value : row.objects) add(value);
      for (const auto& array : row.arrays) {
        for (const double value : array.numbers) add(value);
      }
      text += "\n";
    }
    return true;
  }
  void out_of_memory(std::string_view, std::string_view) noexcept override {}
  void note(const std::string&) override {}
  void detail(const std::string&) override {}
  void tick() override {}

  std::string text;

 private:
  void add(double value) { text += " " + std::to_string(std::bit_cast<std::uint64_t>(value)); }
};

// A run's profile; what it made goes to `results`.
engine::Profile profile_of(const pipeline::Pipeline& pipeline, engine::RunOptions options,
                           std::string& results) {
  options.start = std::chrono::steady_clock::now();
  Results progress;
  engine::RunEnd end = engine::run(pipeline, options, progress);
  if (end.nothing_found || !end.profile) {
    throw Error("no argument matched any picture", ExitCode::nothing_found);
  }
  results = std::move(progress.text);
  return std::move(*end.profile);
}

// results: of the first run.
ComparedRow row_of(const pipeline::Pipeline& pipeline, const engine::RunOptions& options, int runs,
                   std::string& results) {
  ComparedRow row;
  row.pipeline = pipeline.text;
  row.threads = options.threads;
  row.fused = options.session.fuse;
  engine::BenchmarkResult& r = row.result;
  const engine::Profile cold = profile_of(pipeline, options, results);
  r.cold_ms = 1e3 * cold.wall;
  r.type = cold.type;
  r.size = cold.size;
  row.info = cold.devices.front().info;
  for (const engine::StepProfile& step : cold.steps) r.launches += step.launches;
  std::vector<double> kernels, walls, transfers;
  for (int i = 0; i < runs; ++i) {
    std::string again;
    const engine::Profile warm = profile_of(pipeline, options, again);
    if (again != results) throw Error("two runs on one device have different results: our bug");
    double busy = 0;
    for (const engine::DeviceProfile& device : warm.devices) busy += device.times.busy;
    kernels.push_back(busy);
    walls.push_back(1e3 * warm.times.wall);
    const auto moved = [&](engine::Slice::Kind kind) { return warm.sums.wall_of(kind); };
    transfers.push_back(
        1e3 * (moved(engine::Slice::Kind::upload) + moved(engine::Slice::Kind::download)));
  }
  r.take_device(engine::spread_of(std::move(kernels)), runs);
  r.take_wall(engine::spread_of(std::move(walls)));
  r.transfer_ms = engine::spread_of(std::move(transfers)).median;
  r.runs = runs;
  return row;
}

}  // namespace

std::vector<ComparedRow> compare_runs(const pipeline::Pipeline& pipeline,
                                      const engine::RunOptions& options, const std::string& devices,
                                      int runs) {
  std::vector<ComparedRow> rows;
  std::vector<std::string> results;
  for (const ComparedDevice& device : parse_compared(devices, options.threads)) {
    for (const bool fused : {true, false}) {
      engine::RunOptions each = options;
      each.device = device.choice;
      each.threads = device.threads;
      each.session.fuse = fused;
      each.dry_run = each.hash = each.profile = true;
      each.output.clear();
      std::string made;
      ComparedRow row;
      try {
        row = row_of(pipeline, each, runs, made);
      } catch (const Error& error) {
        if (error.code() != ExitCode::backend) throw;
        if (!fused) continue;
        row.pipeline = pipeline.text;
        row.threads = device.threads;
        row.error = error.what();
      }
      row.device = device.name;
      rows.push_back(std::move(row));
      results.push_back(std::move(made));
    }
  }
  relate(rows);
  const auto first = std::find_if(results.begin(), results.end(),
                                  [](const std::string& text) { return !text.empty(); });
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].same_bits = results[i].empty() || results[i] == *first;
  }
  return rows;
}

}  // namespace impipe::cli
