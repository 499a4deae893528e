// Pipelines with large parameters: wide windows, long chains, many operands.
#pragma once

#include <string>
#include <vector>

#include "support/random_pipeline.hpp"

namespace impipe::test {

// Each on a gray and a colour picture of the classes that it takes. The same every time.
std::vector<RandomRun> large_runs();

}  // namespace impipe::test
