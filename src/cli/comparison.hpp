// A pipeline on several devices, side by side.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tools/benchmark.hpp"

namespace impipe::cli {

// One device of a comparison. "cpu:1" is the CPU with one thread.
struct ComparedDevice {
  std::string name;  // as it was given
  engine::DeviceChoice choice;
  int threads = 1;
};
// Of "cpu:1,cpu,opencl,cuda:0"; threads: of those that name none. Throws Error.
std::vector<ComparedDevice> parse_compared(const std::string& list, int threads);

// A line of a comparison; the first one of its pipeline is what the others are compared with.
struct ComparedRow {
  std::string pipeline;
  std::string device;  // as it was given
  DeviceInfo info;
  int threads = 1;
  bool fused = true;
  engine::BenchmarkResult result;
  bool same_bits = true;  // as the first row
  bool computed = true;   // false: kernels alone were timed, and no result is there to compare
  double kernel_speedup = 1, overall_speedup = 1;
  std::string error;      // why there is no result
  double copy_speed = 0;  // of the device, bytes a second, read plus written
  // Of a suite (bench/suites.hpp).
  std::string suite, name, series;
  double x = 0;
  int stack = 1;
  std::string variant;  // of a GPU's kernels (bench/variants.hpp); empty: the usual ones
};
// "opencl:0 local": what a row was measured on, short.
std::string place_of(const ComparedRow& row);
// Fills in what is relative to the first row.
void relate(std::vector<ComparedRow>& rows);

// "cuda:0 0.6x overall: 165 us of transfers for 4 us of work" for each row that loses though its
// kernels win, or both; lines.
std::string lost_text(const std::vector<ComparedRow>& rows);

// In what forms a comparison is printed.
enum class TableForm { text, markdown, csv, json };
// What stands above the lines of CSV.
std::string comparison_csv_head();
std::string comparison_text(const std::vector<ComparedRow>& rows, TableForm form);
nlohmann::ordered_json comparison_value(const std::vector<ComparedRow>& rows);

// What of `now` differs from `before` by more than the runs of each do among themselves. Both are
// the JSON of `impipe bench`. Throws Error when `before` is none.
std::string changes_text(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now);

}  // namespace impipe::cli
