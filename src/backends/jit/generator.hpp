// Makes kernel text for the GPU backends: KernelSpec -> Program, and Program -> what to launch.
//
// Both runtimes use it in the same way:
//   prepare(spec)  program = generate(spec, dialect, tuning); compile program.source; look up each
//                  of program.entries.
//   run(launch)    plan = program.launch({…}); get plan.scratch; for each pass in order launch its
//                  entry with these kernel parameters: one pointer a buffer of pass.buffers, then
//                  plan.parameters_of(pass), a struct by value.
#pragma once

#include <string>
#include <vector>

#include "backends/jit/program/program.hpp"
#include "backends/jit/program/tuning.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

// Throws Error (ExitCode::backend) for a spec it can't express: our bug.
Program generate(const KernelSpec& spec, Dialect dialect, const Tuning& tuning);

// The plan of any kernel on a device with these numbers, in words.
KernelForms kernel_forms(std::string device, Dialect dialect, const Tuning& tuning);

// What the compilers are given beside the text.
std::vector<std::string> compiler_options(Dialect dialect);

}  // namespace impipe::jit
