// Chooses the form of each node of a kernel: a pure function of the spec and of the device's
// dialect and numbers, as pipeline/fuse is of a Plan.
#pragma once

#include "backends/jit/plan/kernel_plan.hpp"

namespace impipe::jit {

KernelPlan choose(const KernelSpec& spec, const Tuning& tuning, Dialect dialect);

}  // namespace impipe::jit
