// Which points are linear stretches with clamping, two operations in double for an integer pixel
// (pixel/ramp.cl).
#pragma once

#include <optional>
#include <string>

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

// A body's text, changed.
struct Ramp {
  std::string line;     // without its limits
  std::string bound;    // above the size of what it adds and subtracts
  std::string ordered;  // its upper limit less the lower one; 0 where it has none
};

// Nothing for nodes that are not points of 16-bit integer pixels alone, computed in double, with a
// quotient; and for bodies that are more than sums, products and quotients with what is the same
// for every pixel and a limit to both sides.
std::optional<Ramp> ramp_of(const KernelContext& of, int n);

}  // namespace impipe::jit
