// Kernels of a pipeline as files for other programs.
#pragma once

#include <vector>

#include "core/exported_code.hpp"

namespace impipe::jit {

// A kernel file a step, pipeline.h (what goes in and out), pipeline_tables.h (launches, parameters,
// memory) and pipeline.c, which launches them: OpenCL 1.2, or CUDA's driver interface and NVRTC.
// Throws Error (ExitCode::backend) for a spec that no text expresses: our bug.
std::vector<ExportedFile> export_code(const ExportRequest& request);

}  // namespace impipe::jit
