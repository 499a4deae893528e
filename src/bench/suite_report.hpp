// Suites on one device and on several: a line a row, and figures on a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/suites.hpp"
#include "cli/comparison.hpp"

namespace impipe::bench {

using cli::ComparedRow, cli::TableForm;

std::string suite_head();
std::string suite_line(const BenchRow& row);
// The slowest row of each size over its fastest; a line a size.
std::string suite_spread(const std::vector<BenchRow>& rows);
nlohmann::ordered_json suite_value(const Suite& suite, const std::vector<BenchRow>& rows,
                                   const engine::Benchmark& benchmark);

// A table for each suite, as text or Markdown: a line a row, columns for each device. `tables` has
// what was measured of each row.
std::string suites_text(const std::vector<std::vector<ComparedRow>>& tables, TableForm form);

// One page that draws the suites' figures without a network, of the JSON of `impipe-bench`, which
// is in it.
std::string suites_page(nlohmann::ordered_json bench);

}  // namespace impipe::bench
