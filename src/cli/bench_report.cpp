#include "cli/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/profile_values.hpp"
#include "engine/device/device_speed.hpp"

namespace impipe::cli {

std::string figures_text(const engine::BenchmarkResult& r) {
  return fmt::format("{:12.2f} {:7.2f} {} {:5.1f} % {:8}", 1e6 * r.device,
                     ratio(r.device, r.baseline_time), r.baseline == Baseline::read ? "r" : " ",
                     100 * ratio(r.floor, r.device), r.launches);
}

double ps_per_sample(const engine::BenchmarkResult& r, int stack) {
  const double samples = static_cast<double>(r.size.pixels()) * r.type.channels;
  return ratio(1e12 * r.device, samples * std::max(1, stack));
}

nlohmann::ordered_json figures_value(const engine::BenchmarkResult& r, int stack) {
  nlohmann::ordered_json one{{"channels", r.type.channels},
                             {"width", r.size.width},
                             {"height", r.size.height},
                             {"device_us", 1e6 * r.device},
                             {"device_least_us", 1e6 * r.device_least},
                             {"device_deviation_us", 1e6 * r.device_deviation},
                             {"ps_per_sample", ps_per_sample(r, stack)},
                             {"groups", r.groups},
                             {"launches", r.launches},
                             {"bytes", r.bytes},
                             {"floor_us", 1e6 * r.floor},
                             {"share_of_floor", ratio(r.floor, r.device)},
                             {"yardstick", r.baseline == Baseline::read ? "read" : "copy"},
                             {"yardstick_us", 1e6 * r.baseline_time},
                             {"times_yardstick", ratio(r.device, r.baseline_time)}};
  if (r.runs > 0) {
    one.update({{"median_ms", r.median_ms},
                {"min_ms", r.min_ms},
                {"wall_deviation_ms", r.wall_deviation_ms},
                {"cold_ms", r.cold_ms},
                {"transfer_ms", r.transfer_ms},
                {"runs", r.runs}});
  }
  return one;
}

nlohmann::ordered_json bench_value(const engine::Benchmark& benchmark) {
  return {{"program", "impipe"},
          {"version", IMPIPE_VERSION},
          {"date", engine::utc_now()},
          {"device",
           {{"id", benchmark.device().id},
            {"name", benchmark.device().name},
            {"driver", benchmark.device().driver}}},
          {"copy_bytes_per_s", benchmark.copy_speed()},
          {"results", nlohmann::ordered_json::array()}};
}

}  // namespace impipe::cli
