// Figures that papers state, beside what was measured here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/suites.hpp"
#include "cli/comparison.hpp"

namespace impipe::bench {

using cli::ComparedRow;

// How many times faster one variant was than another on a device, over a suite's rows.
struct PublishedHere {
  const Suite* suite = nullptr;
  const Published* published = nullptr;
  std::string device;
  double least = 0, most = 0;
  int rows = 0;
};

// `tables` has what was measured of each row. None where the variants were not.
std::vector<PublishedHere> published_here(const std::vector<std::vector<ComparedRow>>& tables);
// A line.
std::string published_text(const PublishedHere& here);
nlohmann::ordered_json published_value(const std::vector<PublishedHere>& all);

}  // namespace impipe::bench
