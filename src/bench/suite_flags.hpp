// What `impipe-bench` was called with, and the rows that follow from it.
#pragma once

#include <string>
#include <vector>

#include "bench/suites.hpp"
#include "cli/bench_flags.hpp"

namespace impipe::bench {

inline constexpr const char* no_suite = "?";       // --suite without a name
inline constexpr const char* every_suite = "all";  // --suite all

struct SuiteFlags : cli::BenchFlags {
  std::string suite, match;
  std::string variant;      // a list; empty: those of the suite
  int forms = 0, seed = 1;  // rows whose forms are timed (form_times.hpp), drawn by a seed
  bool naive = false;
  std::string html;  // a file for the page of suites
};

// The rows of the suite, or one a pipeline of the command line. Throws Error.
struct WantedRow {
  const Suite* suite = nullptr;  // none: of the command line
  SuiteRow row;
};
std::vector<WantedRow> rows_of(const SuiteFlags& flags);
engine::BenchmarkOptions options_of(const SuiteRow& row, const SuiteFlags& flags);

// Tables in which devices stand beside each other. Returns the exit code. Throws Error.
int compare_suites(const SuiteFlags& flags);

}  // namespace impipe::bench
