// The suite `sweep`: every operator over its classes, channels, parameters and contents, and where
// the cost jumps.
#pragma once

#include <string>
#include <vector>

#include "bench/suites.hpp"

namespace impipe::bench {

// The places where neighbouring values of a parameter cost more than twice each other; where a
// class costs more than its bytes explain (1.5 times), colour more than 1.15 times three planes,
// and a content more than 1.5 times another one. A line each, the worst first.
std::vector<std::string> cliffs_in(const std::vector<BenchRow>& rows);

}  // namespace impipe::bench
