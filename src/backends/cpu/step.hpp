// Runs a kernel on the CPU: plane by plane, a tile of its results at a time.
#pragma once

#include <vector>

#include "backends/cpu/tile/scratch.hpp"
#include "backends/cpu/tile/spares.hpp"
#include "core/backend.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// What a launch reads and writes: an image, one plane a channel, or a measurement
// ([channels][values]).
struct StepValue {
  std::vector<Plane>* planes = nullptr;
  std::vector<double>* measure = nullptr;
};

// Scratch memory that outlives launches, lent to one thread at a time.
using ScratchPool = Spares<Scratch>;

// Throws Error (ExitCode::backend) when the kernel can't be run: our bug.
void check_runnable(const KernelSpec& spec);

void run_step(const KernelSpec& spec, const std::vector<StepValue>& inputs,
              const std::vector<StepValue>& outputs, ThreadPool& pool, ScratchPool& scratches,
              CpuLevel level);

}  // namespace impipe::cpu
