// The main job: a pipeline over files.
#pragma once

#include "engine/progress.hpp"
#include "engine/run_end.hpp"
#include "engine/run_options.hpp"

namespace impipe::engine {

// Throws Error for whatever makes the whole run impossible; a file's own trouble is reported. A
// watch goes on until `stop`, which lets what is in work come to its end, or `idle` ends it.
RunEnd run(pipeline::Pipeline pipeline, const RunOptions& options, Progress& progress);

// Whether a run has left something that may not be destroyed: the process has to end by _exit.
bool must_end_at_once() noexcept;

// Removes temporary files that are being written. For signal handlers.
void remove_temporaries() noexcept;

}  // namespace impipe::engine
