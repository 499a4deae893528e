// Prints comparisons of devices, and of measurements with older ones.
#include "cli/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "cli/profile_values.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "engine/device/device_speed.hpp"
#include "engine/device/parity.hpp"

namespace impipe::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const ComparedRow& row) {
  return place_of(row) + (row.fused ? "" : " --no-fuse");
}

std::string time_text(double microseconds) {
  return microseconds < 1e4 ? fmt::format("{:.3g} us", microseconds)
                            : fmt::format("{:.3g} ms", microseconds / 1e3);
}

// Columns of the table, those of CSV too.
constexpr const char* heads[] = {"device",  "threads",    "kernel us", "+-",       "speed-up",
                                 "cold ms", "overall ms", "+-",        "speed-up", "bits"};
std::vector<std::string> cells_of(const ComparedRow& row) {
  const engine::BenchmarkResult& r = row.result;
  if (!row.error.empty()) return {name_of(row), std::to_string(row.threads), row.error};
  return {name_of(row),
          std::to_string(row.threads),
          fmt::format("{:.1f}", 1e6 * r.device),
          fmt::format("{:.1f}", 1e6 * r.device_deviation),
          fmt::format("{:.2f}x", row.kernel_speedup),
          fmt::format("{:.2f}", r.cold_ms),
          fmt::format("{:.3f}", r.median_ms),
          fmt::format("{:.3f}", r.wall_deviation_ms),
          fmt::format("{:.2f}x", row.overall_speedup),
          row.same_bits ? "same" : "DIFFERENT"};
}

// What a table is of: the pipeline, the image, the program.
std::string title_of(const ComparedRow& row) {
  const engine::BenchmarkResult& r = row.result;
  return fmt::format("{}: {}x{}, {} {}, {}; impipe {}, {}", printable(row.pipeline), r.size.width,
                     r.size.height, r.type.channels, r.type.channels == 1 ? "channel" : "channels",
                     impipe::name_of(r.type.cls), IMPIPE_VERSION, engine::utc_now());
}

// "  cuda:0: NVIDIA H200, driver 580", one a device.
std::vector<std::string> device_lines(const std::vector<ComparedRow>& rows) {
  std::vector<std::string> lines;
  for (const ComparedRow& row : rows) {
    const std::string line = fmt::format("{}: {}, {}", row.info.id, row.info.name, row.info.driver);
    const bool known = std::find(lines.begin(), lines.end(), line) != lines.end();
    if (!row.info.id.empty() && !known) lines.push_back(line);
  }
  return lines;
}

std::string plain_table(const std::vector<ComparedRow>& rows) {
  std::vector<std::vector<std::string>> lines{{std::begin(heads), std::end(heads)}};
  for (const ComparedRow& row : rows) lines.push_back(cells_of(row));
  std::vector<size_t> widths(std::size(heads));
  for (const auto& line : lines) {
    if (line.size() != widths.size()) continue;  // an error
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out = title_of(rows.front()) + "\n";
  for (const std::string& line : device_lines(rows)) out += "  " + line + "\n";
  for (const auto& line : lines) {
    out += fmt::format("{:<{}}", line[0], widths[0]);
    for (size_t i = 1; i < line.size(); ++i) out += fmt::format("  {:>{}}", line[i], widths[i]);
    out += "\n";
  }
  return out + lost_text(rows);
}

std::string markdown_table(const std::vector<ComparedRow>& rows) {
  std::string out = "**" + title_of(rows.front()) + "**\n\n|";
  for (const char* head : heads) out += std::string(" ") + head + " |";
  out += "\n|---|";
  for (size_t i = 1; i < std::size(heads); ++i) out += "---:|";
  for (const ComparedRow& row : rows) {
    out += "\n|";
    for (const std::string& cell : cells_of(row)) out += " " + cell + " |";
  }
  out += "\n\n";
  for (const std::string& line : device_lines(rows)) out += "- " + line + "\n";
  return out + lost_text(rows);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_lines(const std::vector<ComparedRow>& rows) {
  std::string out;
  for (const ComparedRow& row : rows) {
    const engine::BenchmarkResult& r = row.result;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},", quoted(row.pipeline),
                       quoted(row.device), quoted(row.info.name), quoted(row.info.driver),
                       IMPIPE_VERSION, impipe::name_of(r.type.cls), r.type.channels, r.size.width,
                       r.size.height, row.threads, row.fused ? 1 : 0);
    if (!row.error.empty()) {
      out += fmt::format(",,,,,,,,,{},{},{},{}\n", quoted(row.error), row.suite, quoted(row.name),
                         quoted(row.variant));
      continue;
    }
    out += fmt::format("{},{},{},{},{},{},{},{},{},,{},{},{}\n", 1e6 * r.device,
                       1e6 * r.device_deviation, row.kernel_speedup, r.cold_ms, r.median_ms,
                       r.wall_deviation_ms, row.overall_speedup, r.transfer_ms,
                       row.same_bits ? 1 : 0, row.suite, quoted(row.name), quoted(row.variant));
  }
  return out;
}

// Rows of a bench's JSON, by what they measure.
std::map<std::string, Json> by_subject(const Json& bench) {
  std::map<std::string, Json> rows;
  for (const Json& row : bench.at("results")) {
    if (row.contains("error")) continue;
    std::string subject;
    for (const char* key : {"suite", "name", "stack", "pipeline", "device", "variant", "threads",
                            "fused", "class", "channels", "width", "height"}) {
      if (row.contains(key)) subject += row[key].dump() + " ";
    }
    rows[subject] = row;
  }
  return rows;
}

}  // namespace

std::string place_of(const ComparedRow& row) {
  return row.device + (row.variant.empty() ? "" : " " + row.variant);
}

std::vector<ComparedDevice> parse_compared(const std::string& list, int threads) {
  std::vector<ComparedDevice> devices;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) {
    if (name.empty()) throw Error("--device: '" + list + "' has an empty name");
    ComparedDevice device{name, {.backend = "auto", .device = name}, threads};
    if (name.rfind("cpu:", 0) == 0) {
      const std::string number = name.substr(4);
      const bool digits = !number.empty() && number.size() < 5 &&
                          number.find_first_not_of("0123456789") == std::string::npos;
      if (!digits) throw Error("--device: '" + name + "': cpu:4 is the CPU with four threads");
      device.choice.device = "cpu";
      device.threads = parse_threads(std::stoi(number));
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

void relate(std::vector<ComparedRow>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const ComparedRow& row) { return row.error.empty(); });
  if (first == rows.end()) return;
  const engine::BenchmarkResult& base = first->result;
  const auto computed = std::find_if(rows.begin(), rows.end(), [](const ComparedRow& row) {
    return row.error.empty() && row.computed;
  });
  for (ComparedRow& row : rows) {
    if (!row.error.empty()) continue;
    row.kernel_speedup = ratio(base.device, row.result.device);
    row.overall_speedup = ratio(base.median_ms, row.result.median_ms);
    if (!row.computed) continue;
    row.same_bits = engine::same_bits(computed->result.outcome, row.result.outcome);
  }
}

std::string lost_text(const std::vector<ComparedRow>& rows) {
  std::string out;
  for (const ComparedRow& row : rows) {
    if (!row.error.empty() || row.overall_speedup >= 1 || !row.fused) continue;
    const engine::BenchmarkResult& r = row.result;
    out += fmt::format("{} {:.1f}x overall: {} of transfers", name_of(row), row.overall_speedup,
                       time_text(1e3 * r.transfer_ms));
    // What is left is launches and memory.
    const double host = 1e3 * r.median_ms - 1e3 * r.transfer_ms - 1e6 * r.device;
    if (host > 0) out += fmt::format(" and {} of the host", time_text(host));
    out += fmt::format(" for {} of work\n", time_text(1e6 * r.device));
  }
  return out;
}

Json comparison_value(const std::vector<ComparedRow>& rows) {
  Json results = Json::array();
  for (const ComparedRow& row : rows) {
    const engine::BenchmarkResult& r = row.result;
    Json one;
    if (!row.suite.empty()) {
      one = {{"suite", row.suite},
             {"name", row.name},
             {"series", row.series},
             {"x", row.x},
             {"stack", row.stack}};
    }
    one.update({{"pipeline", row.pipeline},
                {"device", row.device},
                {"id", row.info.id},
                {"device_name", row.info.name},
                {"driver", row.info.driver},
                {"copy_bytes_per_s", row.copy_speed},
                {"threads", row.threads},
                {"fused", row.fused}});
    if (!row.variant.empty()) one["variant"] = row.variant;
    if (!row.error.empty()) {
      one["error"] = row.error;
    } else {
      one.update({{"class", impipe::name_of(r.type.cls)},
                  {"channels", r.type.channels},
                  {"width", r.size.width},
                  {"height", r.size.height},
                  {"device_us", 1e6 * r.device},
                  {"device_deviation_us", 1e6 * r.device_deviation},
                  {"groups", r.groups},
                  {"launches", r.launches},
                  {"bytes", r.bytes},
                  {"kernel_speedup", row.kernel_speedup},
                  {"cold_ms", r.cold_ms},
                  {"median_ms", r.median_ms},
                  {"wall_deviation_ms", r.wall_deviation_ms},
                  {"runs", r.runs},
                  {"transfer_ms", r.transfer_ms},
                  {"overall_speedup", row.overall_speedup},
                  {"same_bits", row.same_bits}});
    }
    results.push_back(std::move(one));
  }
  return {{"program", "impipe"},
          {"version", IMPIPE_VERSION},
          {"date", engine::utc_now()},
          {"results", std::move(results)}};
}

std::string comparison_csv_head() {
  return "pipeline,device,name,driver,version,class,channels,width,height,threads,fused,device_us,"
         "device_deviation_us,kernel_speedup,cold_ms,median_ms,wall_deviation_ms,overall_speedup,"
         "transfer_ms,same_bits,error,suite,row,variant\n";
}

std::string comparison_text(const std::vector<ComparedRow>& rows, TableForm form) {
  switch (form) {
    case TableForm::text: return plain_table(rows);
    case TableForm::markdown: return markdown_table(rows);
    case TableForm::csv: return csv_lines(rows);
    case TableForm::json: return comparison_value(rows).dump() + "\n";
  }
  return "";
}

std::string changes_text(const Json& before, const Json& now) {
  if (!before.is_object() || !before.contains("results") || !before["results"].is_array()) {
    throw Error("--against: the file is no JSON of impipe bench", ExitCode::file_failed);
  }
  const auto old = by_subject(before);
  std::string out;
  int same = 0, unknown = 0;
  struct Figure {
    const char *name, *value, *deviation, *unit;
  };
  constexpr Figure figures[] = {{"kernels", "device_us", "device_deviation_us", "us"},
                                {"overall", "median_ms", "wall_deviation_ms", "ms"}};
  for (const auto& [subject, row] : by_subject(now)) {
    const auto was = old.find(subject);
    if (was == old.end()) {
      ++unknown;
      continue;
    }
    for (const Figure& f : figures) {
      if (!row.contains(f.value) || !was->second.contains(f.value)) continue;
      const double a = was->second[f.value], b = row[f.value];
      // Twice the deviations of both, and at least a twentieth: clocks change between runs.
      const double noise = std::max(
          2 * std::hypot(was->second.value(f.deviation, 0.0), row.value(f.deviation, 0.0)), a / 20);
      if (std::abs(b - a) <= noise) {
        ++same;
        continue;
      }
      std::string device;
      if (row.contains("device") && row["device"].is_string()) device = row.value("device", "");
      if (row.contains("variant")) device += " " + row.value("variant", "");
      if (!device.empty()) device += ", ";
      out += fmt::format("{} {:.2f}x: {}{} {:.4g} {}, was {:.4g} (noise {:.2g}): {}\n",
                         b < a ? "faster" : "slower", b < a ? a / b : b / a, device, f.name, b,
                         f.unit, a, noise, printable(row["pipeline"].get<std::string>()));
    }
  }
  out += fmt::format("{} figures within the noise", same);
  if (unknown > 0) out += fmt::format(", {} rows that the file does not have", unknown);
  return out + "\n";
}

}  // namespace impipe::cli
