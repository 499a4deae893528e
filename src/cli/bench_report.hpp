// Figures of a measured pipeline, as a line of a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/tools/benchmark.hpp"

namespace impipe::cli {

// Device time, its ratio to a copy, its share of the floor, launches; and the head above them.
inline constexpr const char* figures_head = "   device us    x copy   floor  launches";
std::string figures_text(const engine::BenchmarkResult& result);

// Picoseconds of the device for a pixel of a plane; stack: images that were measured together.
double ps_per_sample(const engine::BenchmarkResult& result, int stack);

// The JSON of a result, from its channels on; and what stands above results.
nlohmann::ordered_json figures_value(const engine::BenchmarkResult& result, int stack);
nlohmann::ordered_json bench_value(const engine::Benchmark& benchmark);

}  // namespace impipe::cli
