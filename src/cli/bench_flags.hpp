// The flags of `impipe bench`, which those of `impipe-bench` contain, and what follows from them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/comparison.hpp"
#include "engine/sandbox.hpp"
#include "engine/tools/benchmark.hpp"

namespace impipe::cli {

struct BenchFlags {
  std::vector<std::string> pipelines;
  engine::DeviceChoice device;
  std::string cls, max_pixels, sandbox;
  int size = 0;
  int channels = 0;  // 0: not said
  int stack = 1;
  std::string input;
  int repeat = 0;
  int threads = 0;
  bool no_fuse = false;
  bool in_cache = false;
  bool json = false, markdown = false, csv = false;
  std::string report;   // a file for the JSON, beside the table
  std::string against;  // an older one
};
void add_bench_flags(CLI::App* app, BenchFlags& flags);

// Throws Error where one flag excludes another.
void check_input(const BenchFlags& flags);
TableForm form_of(const BenchFlags& flags);
// Several devices, or tables that only comparisons have.
bool compares(const BenchFlags& flags);

engine::BenchmarkOptions options_of(const BenchFlags& flags);
pipeline::Pipeline pipeline_of(const std::string& text, const engine::Sandbox& sandbox);
std::vector<pipeline::Pipeline> pipelines_of(const BenchFlags& flags);

// An older --json or --report; null when none was named. Throws Error.
nlohmann::ordered_json read_older(const BenchFlags& flags);
// What changed since then: beside a table on stdout, else on stderr.
void tell_changes(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                  TableForm form);
// Throws Error naming the flag and the file.
void write_report(const std::string& flag, const std::string& path, const std::string& text);

}  // namespace impipe::cli
