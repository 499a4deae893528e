#include "cli/run_summary.hpp"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "engine/device/device_speed.hpp"

namespace impipe::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

std::string summary_json(const RunSummary& summary, const engine::RunOptions& options,
                         const engine::RunEnd& end, const RunReporter& reporter) {
  const RunTotals& totals = reporter.totals();
  Json json{{"program", "impipe"},
            {"version", IMPIPE_VERSION},
            {"host", host_name()},
            {"pipeline", summary.pipeline},
            {"output", options.output},
            {"shard", options.shard_index},
            {"shards", options.shard_count},
            {"started", summary.started},
            {"ended", engine::utc_now()},
            {"seconds", summary.seconds},
            {"exit", summary.exit_code},
            {"files", reporter.files_of(end)},
            {"done", end.done},
            {"skipped", end.skipped},
            {"failed", end.failed},
            {"retries", end.retries},
            {"bytes_read", totals.bytes_read},
            {"bytes_written", totals.bytes_written},
            {"clipped_values", end.clipped_values},
            {"clipped_files", end.clipped_files},
            {"threads", options.threads}};
  if (!summary.error.empty()) json["error"] = summary.error;
  json["failures"] = Json::object();
  for (const auto& [stage, count] : totals.failures) json["failures"][stage] = count;
  json["warnings"] = Json::object();
  for (const auto& [kind, files] : reporter.warnings()) json["warnings"][kind] = files;
  json["devices"] = Json::array();
  for (const DeviceInfo& device : end.devices) {
    json["devices"].push_back(
        {{"id", device.id}, {"name", device.name}, {"driver", device.driver}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace impipe::cli
