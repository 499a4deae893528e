// A run whose pipeline makes one image of all files.
#pragma once

#include <cstdint>

#include "engine/progress.hpp"
#include "engine/run_end.hpp"
#include "engine/run_options.hpp"
#include "engine/run_state.hpp"
#include "io/files/outputs.hpp"

namespace impipe::engine {

// Throws Error (usage) for options that don't go with one image of all files.
void check_stack_options(const RunOptions& options, const pipeline::Pipeline& pipeline);

// The files, which have their programs, and then the result. target: null where none is written.
// memory: bytes in flight. Throws Error where the files don't go together. Returns the batch of the
// result, whose counts are of files.
BatchEnd run_stack(RunState& state, const RunOptions& options, const io::OutputTarget* target,
                   std::int64_t memory, Progress& progress, RunEnd& end);

}  // namespace impipe::engine
