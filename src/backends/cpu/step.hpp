// Runs a kernel on the CPU: plane by plane, a tile of its results at a time.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/tile/scratch.hpp"
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
class ScratchPool {
 public:
  std::unique_ptr<Scratch> take();
  void give(std::unique_ptr<Scratch> scratch);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

// Throws Error (ExitCode::backend) when the kernel can't be run: our bug.
void check_runnable(const KernelSpec& spec);

void run_step(const KernelSpec& spec, const std::vector<StepValue>& inputs,
              const std::vector<StepValue>& outputs, ThreadPool& pool, ScratchPool& scratches,
              CpuLevel level);

}  // namespace impipe::cpu
