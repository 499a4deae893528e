// Histograms of 65,536 codes in local memory.
#pragma once

#include "backends/jit/plan/measure_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernels that count the codes of Histogram node n's uint16 image so, as the plan says.
void write_wide_histogram(Builder& builder, const CountedCodes& counted, int n);

}  // namespace impipe::jit
