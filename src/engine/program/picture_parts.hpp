// A large picture in bands of rows that follow one another to the device, through its kernels and
// back, so that both directions of the link are busy at once (decision 0085).
#pragma once

#include "engine/program/executor.hpp"

namespace impipe::engine {

// `execute`, in bands where the plan and the device allow it and where that gains something.
Outcome execute_in_parts(const Program& program, Material material, Queue& queue,
                         const ExecuteOptions& options);

}  // namespace impipe::engine
