// Median and standard deviation of repeated measurements.
#pragma once

#include <vector>

namespace impipe::engine {

struct Spread {
  double least = 0, median = 0;
  double deviation = 0;  // the sample's standard deviation; 0 of a single number
};
// numbers: at least one.
Spread spread_of(std::vector<double> numbers);

}  // namespace impipe::engine
