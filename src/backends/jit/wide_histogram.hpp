// Histograms of 65,536 codes in local memory.
#pragma once

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// Whether Histogram node n counts the codes of a uint16 image and the device has the local memory.
bool fits_wide_histogram(const Builder& to, int n);
// stored: whether a node's pixels lie in memory.
void write_wide_histogram(Builder& to, const std::function<bool(int)>& stored, int n);

}  // namespace impipe::jit
