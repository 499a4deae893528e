// What `impipe bench` prints, as a table and as JSON.
#include "cli/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/printable.hpp"
#include "engine/device/device_speed.hpp"

namespace impipe::cli {
namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// Of the device, a pixel of a plane.
double ps_per_sample(const BenchRow& row) {
  const engine::BenchmarkResult& r = row.result;
  const double samples = static_cast<double>(r.size.pixels()) * r.type.channels;
  return ratio(1e12 * r.device, samples * std::max(1, row.what.stack));
}

std::string_view class_name(PixelClass cls) {
  return cls == PixelClass::single   ? "f32"
         : cls == PixelClass::uint16 ? "u16"
         : cls == PixelClass::uint8  ? "u8"
                                     : "bit";
}

}  // namespace

std::string bench_head(bool suite) {
  const std::string head = "   device us    x copy   floor  launches";
  return suite ? head + "   ps/sample   class  size  row\n" : head + "     wall ms  pipeline\n";
}

std::string bench_line(const BenchRow& row, bool suite) {
  const engine::BenchmarkResult& r = row.result;
  std::string line;
  if (!row.error.empty()) {
    line = fmt::format("{:>12}{:>40}", "-", "");
  } else {
    line = fmt::format("{:12.2f} {:7.2f} {} {:5.1f} % {:8} {}", 1e6 * r.device,
                       ratio(r.device, r.baseline_time), r.baseline == Baseline::read ? "r" : " ",
                       100 * ratio(r.floor, r.device), r.launches,
                       suite        ? fmt::format("{:11.2f}", ps_per_sample(row))
                       : r.runs > 0 ? fmt::format("{:11.3f}", r.median_ms)
                                    : fmt::format("{:>11}", "-"));
  }
  if (suite) {
    line += fmt::format("   {:>5} {:>5}  {}", class_name(row.what.cls), row.what.size,
                        printable(row.what.name));
  } else {
    line += "  " + printable(row.what.pipeline);
  }
  if (!row.error.empty()) line += ": " + row.error;
  return line + "\n";
}

std::string bench_spread(const std::vector<BenchRow>& rows) {
  std::map<int, std::pair<double, double>> of_size;  // fastest, slowest
  for (const BenchRow& row : rows) {
    if (!row.error.empty()) continue;
    const double device = row.result.device;
    const auto [place, is_new] = of_size.try_emplace(row.what.size, device, device);
    auto& [fastest, slowest] = place->second;
    fastest = std::min(fastest, device);
    slowest = std::max(slowest, device);
  }
  std::string text;
  for (const auto& [size, times] : of_size) {
    text += fmt::format("worst over best at {}x{}: {:.2f}\n", size, size,
                        ratio(times.second, times.first));
  }
  return text;
}

std::string bench_json(const std::vector<BenchRow>& rows, const std::string& suite,
                       const engine::Benchmark& benchmark) {
  nlohmann::ordered_json json{
      {"program", "impipe"}, {"version", IMPIPE_VERSION}, {"date", engine::utc_now()}};
  if (!suite.empty()) json["suite"] = suite;
  json["device"] = {{"id", benchmark.device().id},
                    {"name", benchmark.device().name},
                    {"driver", benchmark.device().driver}};
  json["copy_bytes_per_s"] = benchmark.copy_speed();
  json["results"] = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows) {
    const engine::BenchmarkResult& r = row.result;
    nlohmann::ordered_json one;
    if (!suite.empty()) one["name"] = row.what.name;
    one["pipeline"] = row.what.pipeline;
    one["class"] = name_of(row.error.empty() ? r.type.cls : row.what.cls);
    if (row.what.size > 0) one["size"] = row.what.size;
    if (!row.error.empty()) {
      one["error"] = row.error;
    } else {
      one.update({{"channels", r.type.channels},
                  {"width", r.size.width},
                  {"height", r.size.height},
                  {"device_us", 1e6 * r.device},
                  {"device_least_us", 1e6 * r.device_least},
                  {"device_deviation_us", 1e6 * r.device_deviation},
                  {"ps_per_sample", ps_per_sample(row)},
                  {"groups", r.groups},
                  {"launches", r.launches},
                  {"bytes", r.bytes},
                  {"floor_us", 1e6 * r.floor},
                  {"share_of_floor", ratio(r.floor, r.device)},
                  {"yardstick", r.baseline == Baseline::read ? "read" : "copy"},
                  {"yardstick_us", 1e6 * r.baseline_time},
                  {"times_yardstick", ratio(r.device, r.baseline_time)}});
      if (r.runs > 0) {
        one.update({{"median_ms", r.median_ms},
                    {"min_ms", r.min_ms},
                    {"wall_deviation_ms", r.wall_deviation_ms},
                    {"cold_ms", r.cold_ms},
                    {"transfer_ms", r.transfer_ms},
                    {"runs", r.runs}});
      }
    }
    json["results"].push_back(std::move(one));
  }
  if (!suite.empty() && find_suite(suite).findings != nullptr) {
    json["findings"] = find_suite(suite).findings(rows);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace impipe::cli
