// Pipelines on several devices, side by side.
#pragma once

#include <functional>
#include <vector>

#include "cli/bench_flags.hpp"
#include "cli/comparison.hpp"

namespace impipe::cli {

// The devices of --device, the CPU without it. Throws Error where --backend names one, too.
std::vector<ComparedDevice> compared_devices(const BenchFlags& flags);

// Fills in the row from what `run` measures, of as many runs at least as a deviation takes; its
// Error becomes the row's where `may_fail`.
using Measure = std::function<engine::BenchmarkResult(const engine::BenchmarkOptions&)>;
void measure(ComparedRow& row, const engine::Benchmark& benchmark, engine::BenchmarkOptions options,
             bool may_fail, const Measure& run);

// Tables of the pipelines, each row fused and not. Returns the exit code. Throws Error.
int run_comparison(const BenchFlags& flags);

}  // namespace impipe::cli
