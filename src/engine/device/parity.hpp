// Asks whether a device computes what the CPU computes, before it is trusted.
#pragma once

#include <string>

#include "core/backend.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {

// Five kernels: rounding, division and square root, fma and contraction, denormals, 64-bit sums.
// Empty when the device gives the CPU's bits, else what it gets wrong: "division and square root".
// The verdict on a device and driver is remembered in the cache. Throws Error (backend) when the
// kernels can't be made.
std::string parity_failure(Device& device, ThreadPool& pool);

// Whether two runs made the same, bit for bit: pixels and measurements.
bool same_bits(const Outcome& a, const Outcome& b);

}  // namespace impipe::engine
