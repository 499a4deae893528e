// A run over files on several devices, side by side.
#pragma once

#include <string>

#include "cli/comparison.hpp"
#include "engine/run.hpp"

namespace impipe::cli {

// Runs the pipeline over the options' inputs on each device of the list, fused and not, once cold
// and then `runs` times; nothing is written. Returns a row for each, per run: all files together.
std::vector<ComparedRow> compare_runs(const pipeline::Pipeline& pipeline,
                                      const engine::RunOptions& options, const std::string& devices,
                                      int runs);

}  // namespace impipe::cli
