// What `impipe bench` prints.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_suites.hpp"
#include "engine/tools/benchmark.hpp"

namespace impipe::cli {

// A measured pipeline, of a suite or of the command line.
struct BenchRow {
  SuiteRow what;
  engine::BenchmarkResult result;
  std::string error;  // why there is no result
};

std::string bench_head(bool suite);
// A line of the table, and its head.
std::string bench_line(const BenchRow& row, bool suite);
// The slowest row of each size over its fastest; a line a size.
std::string bench_spread(const std::vector<BenchRow>& rows);
std::string bench_json(const std::vector<BenchRow>& rows, const std::string& suite,
                       const engine::Benchmark& benchmark);

}  // namespace impipe::cli
