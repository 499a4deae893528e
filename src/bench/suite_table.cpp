// Tables of suites.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/published.hpp"
#include "bench/suite_report.hpp"
#include "bench/suites.hpp"
#include "core/printable.hpp"
#include "engine/device/device_speed.hpp"

namespace impipe::bench {
namespace {

using Table = std::vector<ComparedRow>;  // of a suite's row, one a device and variant
using Cells = std::vector<std::string>;

// What stands above a row's times: its device and variant, whose number is left out where every row
// of the suite has one of its own.
struct Places {
  bool numbers = false;

  explicit Places(const std::vector<const Table*>& rows) {
    for (const Table* table : rows) {
      Cells known;
      for (const ComparedRow& row : *table) {
        const std::string place = of(row);
        numbers = numbers || std::find(known.begin(), known.end(), place) != known.end();
        known.push_back(place);
      }
    }
  }
  std::string of(const ComparedRow& row) const {
    const std::string place = cli::place_of(row);
    return numbers ? place : place.substr(0, place.find('='));
  }
};

// The devices of a suite in the order of the rows, and whether each has a memory of its own.
std::vector<std::pair<std::string, bool>> devices_of(const std::vector<const Table*>& rows,
                                                     const Places& places) {
  std::vector<std::pair<std::string, bool>> devices;
  for (const Table* table : rows) {
    for (const ComparedRow& row : *table) {
      const auto known = std::find_if(devices.begin(), devices.end(),
                                      [&](const auto& d) { return d.first == places.of(row); });
      if (known == devices.end()) devices.emplace_back(places.of(row), row.info.is_gpu);
    }
  }
  return devices;
}

Cells heads_of(const std::vector<std::pair<std::string, bool>>& devices) {
  Cells heads = {"row", "class", "size"};
  for (const auto& [device, is_gpu] : devices) {
    heads.push_back(device + " us");
    if (device != devices.front().first) heads.emplace_back("x");
    if (is_gpu) heads.insert(heads.end(), {"overall us", "x"});
  }
  return heads;
}

Cells cells_of(const Table& table, const std::vector<std::pair<std::string, bool>>& devices,
               const Places& places) {
  const ComparedRow* any = &table.front();
  for (const ComparedRow& row : table) {
    if (row.error.empty()) any = &row;
  }
  const engine::BenchmarkResult& shown = any->result;
  Cells cells = {printable(any->name), std::string(impipe::name_of(shown.type.cls)),
                 to_string(shown.size)};
  for (const auto& [device, is_gpu] : devices) {
    const auto row = std::find_if(table.begin(), table.end(), [&, name = device](const auto& r) {
      return places.of(r) == name && r.error.empty();
    });
    const bool there = row != table.end();
    const auto add = [&](bool known, const char* format, double value) {
      cells.push_back(known ? fmt::format(fmt::runtime(format), value) : "-");
    };
    add(there, "{:.1f}", there ? 1e6 * row->result.device : 0);
    if (device != devices.front().first) add(there, "{:.2f}", there ? row->kernel_speedup : 0);
    if (!is_gpu) continue;
    const bool whole = there && row->result.runs > 0;
    add(whole, "{:.1f}", whole ? 1e3 * row->result.median_ms : 0);
    add(whole, "{:.2f}", whole ? row->overall_speedup : 0);
  }
  return cells;
}

// What is faster than the first device in the mean, and what went wrong.
std::string notes_of(const std::vector<const Table*>& rows, const std::string& first,
                     const Places& places) {
  std::map<std::string, std::pair<double, int>> logs;
  std::string wrong;
  for (const Table* table : rows) {
    for (const ComparedRow& row : *table) {
      if (!row.error.empty()) {
        wrong += printable(row.name) + ", " + cli::place_of(row) + ": " + row.error + "\n";
        continue;
      }
      if (!row.same_bits) {
        wrong += fmt::format("{}, {}x{}, {}: another result\n", printable(row.name),
                             row.result.size.width, row.result.size.height, cli::place_of(row));
      }
      if (places.of(row) == first || table->front().device != first) continue;
      auto& [sum, count] = logs[places.of(row)];
      sum += std::log(row.kernel_speedup);
      ++count;
    }
  }
  std::string text;
  for (const auto& [device, log] : logs) {
    text += fmt::format("{}: {:.2f}x {} in the geometric mean of {} rows\n", device,
                        std::exp(log.first / log.second), first, log.second);
  }
  return text + wrong;
}

std::string aligned(const std::vector<Cells>& lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const Cells& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const Cells& line : lines) {
    out += fmt::format("{:<{}}", line[0], widths[0]);
    for (size_t i = 1; i < line.size(); ++i) out += fmt::format("  {:>{}}", line[i], widths[i]);
    out += "\n";
  }
  return out;
}

std::string markdown(const std::vector<Cells>& lines) {
  std::string out;
  for (const Cells& line : lines) {
    out += "|";
    for (const std::string& cell : line) out += " " + cell + " |";
    out += "\n";
    if (&line != &lines.front()) continue;
    out += "|---|---|";
    for (size_t i = 2; i < line.size(); ++i) out += "---:|";
    out += "\n";
  }
  return out + "\n";
}

std::string suite_text(const Suite& suite, const std::vector<const Table*>& rows, TableForm form) {
  const Places places(rows);
  const auto devices = devices_of(rows, places);
  std::vector<Cells> lines = {heads_of(devices)};
  for (const Table* table : rows) lines.push_back(cells_of(*table, devices, places));
  const bool plain = form == TableForm::text;
  const std::string head = fmt::format("{}: {}; impipe {}, {}", suite.name, suite.summary,
                                       IMPIPE_VERSION, engine::utc_now());
  std::string out = plain ? head + "\n" : "**" + head + "**\n\n";
  Cells told;
  for (const Table* table : rows) {
    for (const ComparedRow& row : *table) {
      if (row.info.id.empty() || std::find(told.begin(), told.end(), row.device) != told.end()) {
        continue;
      }
      told.push_back(row.device);
      out += fmt::format("{}{}: {}, {}, {} {}\n", plain ? "  " : "- ", row.device, row.info.name,
                         row.info.driver, row.threads, row.threads == 1 ? "thread" : "threads");
    }
  }
  out += plain ? aligned(lines) : "\n" + markdown(lines);
  return out + notes_of(rows, devices.front().first, places);
}

}  // namespace

std::string suites_text(const std::vector<std::vector<ComparedRow>>& tables, TableForm form) {
  const std::vector<PublishedHere> published = published_here(tables);
  std::string out;
  for (const Suite& suite : all_suites()) {
    std::vector<const Table*> rows;
    for (const Table& table : tables) {
      if (!table.empty() && table.front().suite == suite.name) rows.push_back(&table);
    }
    if (rows.empty()) continue;
    if (!out.empty()) out += "\n";
    out += suite_text(suite, rows, form);
    for (const PublishedHere& here : published) {
      if (here.suite == &suite) out += (form == TableForm::text ? "" : "- ") + published_text(here);
    }
  }
  return out;
}

}  // namespace impipe::bench
