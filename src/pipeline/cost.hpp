// What a primitive costs, and whether an intermediate is better computed twice than stored.
#pragma once

#include "core/kernel_spec.hpp"

namespace impipe::pipeline {

// Costs are per pixel, in units of one simple vector operation on a value: a byte moved to or from
// memory costs about one. Measured on the CPU backend, docs/benchmarks/cpu.md.
double cost_of(const Node& node);

// Writing an image and reading it again.
double cost_of_storing(const Node& node);

struct Recomputation {
  double chain = 0;  // cost of the value and of what it is made from
  int readers = 1;   // kernels that would each compute it
  Footprint halo;    // what its readers need around their own tile
};
// The one decision: true when it is cheaper to compute the value in each reader than to store it.
bool better_recomputed(const Recomputation& r, double storing);

}  // namespace impipe::pipeline
