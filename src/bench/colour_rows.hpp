// The suite `colour`: what a picture of three channels costs beside three gray images of its size.
#pragma once

#include <string>
#include <vector>

#include "bench/suites.hpp"

namespace impipe::bench {

// The pipelines whose colour takes more than 1.15 times the device time of three gray images as a
// stack. A line each, the worst first.
std::vector<std::string> colour_findings(const std::vector<BenchRow>& rows);

}  // namespace impipe::bench
