// Runs a Program on one image.
#pragma once

#include <vector>

#include "engine/program/execution.hpp"

namespace impipe::engine {

// Which values a run reads: their planes must be on the device before the first step.
std::vector<bool> values_read(const Plan& plan);
// Which values a step reads; results that are inputs may be none of them.
std::vector<bool> read_by_steps(const Plan& plan);

// Uploads the plan's tables that steps read, for `count` images of a stack.
void put_constants(const Plan& plan, std::vector<DeviceValue>& values, Queue& queue, int count = 1);

// Launches step `step`. Of `values`, one a value of the plan, its inputs are there; outputs that
// are not are allocated. sizes: see sizes_of.
// count: images of the stack, for which the program's kernels were made. read: see Material.
void launch_step(const Program& program, size_t step, const std::vector<Size>& sizes,
                 std::vector<DeviceValue>& values, Queue& queue, int count = 1,
                 const Shrunk& read = {});

// Values are let go as soon as nobody reads them. Throws Error (file_failed) for unequal sizes,
// empty results and lack of memory, and NotDecoded.
Outcome execute(const Program& program, Material material, Queue& queue,
                const ExecuteOptions& options = {});

// Several images at once: all of the program's types, of equal sizes and with operands of equal
// sizes. The program's kernels are for stacks. NotDecoded is thrown for one image alone.
std::vector<Outcome> execute_stack(const Program& program, std::vector<Material> materials,
                                   Queue& queue, const ExecuteOptions& options = {});

}  // namespace impipe::engine
