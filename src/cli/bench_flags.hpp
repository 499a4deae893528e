// What `impipe bench` was asked for, and the rows that follow from it.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_suites.hpp"
#include "cli/comparison.hpp"
#include "engine/sandbox.hpp"
#include "engine/tools/benchmark.hpp"

namespace impipe::cli {

inline constexpr const char* no_suite = "?";       // --suite without a name
inline constexpr const char* every_suite = "all";  // --suite all

struct BenchFlags {
  std::vector<std::string> pipelines;
  engine::DeviceChoice device;
  std::string suite, match;
  std::string variant;  // a list; empty: those of the suite
  std::string cls, max_pixels, sandbox;
  int size = 0;
  int channels = 0;  // 0: not said
  int stack = 1;
  std::string input;
  int repeat = 0;
  int threads = 0;
  bool no_fuse = false;
  bool in_cache = false;
  bool naive = false;
  bool json = false, markdown = false, csv = false;
  std::string report;   // a file for the JSON, beside the table
  std::string html;     // a file for the page of suites
  std::string against;  // an older one
};

// The rows of the suite, or one a pipeline of the command line. Throws Error.
struct WantedRow {
  const Suite* suite = nullptr;  // none: of the command line
  SuiteRow row;
};
std::vector<WantedRow> rows_of(const BenchFlags& flags);
engine::BenchmarkOptions options_of(const SuiteRow& row, const BenchFlags& flags);
pipeline::Pipeline pipeline_of(const std::string& text, const engine::Sandbox& sandbox);

// Tables in which devices stand beside each other. Returns the exit code. Throws Error.
int run_comparison(const BenchFlags& flags);

TableForm form_of(const BenchFlags& flags);
// An older --json or --report; null when none was named. Throws Error.
nlohmann::ordered_json read_older(const BenchFlags& flags);
// What changed since then: beside a table on stdout, else on stderr.
void tell_changes(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                  TableForm form);
// Throws Error naming the flag and the file.
void write_report(const std::string& flag, const std::string& path, const std::string& text);

}  // namespace impipe::cli
