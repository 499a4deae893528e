// Suites on several devices: a line a row, and figures on a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/comparison.hpp"

namespace impipe::cli {

// A table for each suite, as text or Markdown: a line a row, columns for each device. `tables` has
// what was measured of each row.
std::string suites_text(const std::vector<std::vector<ComparedRow>>& tables, TableForm form);

// One page that draws the suites' figures without a network, of the JSON of `impipe bench`, which
// is in it.
std::string suites_page(nlohmann::ordered_json bench);

}  // namespace impipe::cli
