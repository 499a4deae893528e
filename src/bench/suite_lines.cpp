// Suites on one device: a line a row, and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/suite_report.hpp"
#include "cli/bench_report.hpp"
#include "core/printable.hpp"

namespace impipe::bench {
namespace {

std::string_view class_name(PixelClass cls) {
  return cls == PixelClass::single   ? "f32"
         : cls == PixelClass::uint16 ? "u16"
         : cls == PixelClass::uint8  ? "u8"
                                     : "bit";
}

}  // namespace

std::string suite_head() {
  return std::string(cli::figures_head) + "   ps/sample   class  size  row\n";
}

std::string suite_line(const BenchRow& row) {
  const std::string figures = row.error.empty()
                                  ? fmt::format("{} {:11.2f}", cli::figures_text(row.result),
                                                cli::ps_per_sample(row.result, row.what.stack))
                                  : fmt::format("{:>12}{:>40}", "-", "");
  return fmt::format("{}   {:>5} {:>5}  {}{}{}\n", figures, class_name(row.what.cls), row.what.size,
                     printable(row.what.name), row.error.empty() ? "" : ": ", row.error);
}

std::string suite_spread(const std::vector<BenchRow>& rows) {
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
    text +=
        fmt::format("worst over best at {}x{}: {:.2f}\n", size, size, times.second / times.first);
  }
  return text;
}

nlohmann::ordered_json suite_value(const Suite& suite, const std::vector<BenchRow>& rows,
                                   const engine::Benchmark& benchmark) {
  nlohmann::ordered_json json = cli::bench_value(benchmark);
  json["suite"] = suite.name;
  for (const BenchRow& row : rows) {
    nlohmann::ordered_json one{
        {"name", row.what.name},
        {"pipeline", row.what.pipeline},
        {"class", name_of(row.error.empty() ? row.result.type.cls : row.what.cls)},
        {"size", row.what.size}};
    if (row.error.empty()) {
      one.update(cli::figures_value(row.result, row.what.stack));
    } else {
      one["error"] = row.error;
    }
    json["results"].push_back(std::move(one));
  }
  if (suite.findings != nullptr) json["findings"] = suite.findings(rows);
  return json;
}

}  // namespace impipe::bench
