// --summary: what a run did, for whoever started many of them.
#pragma once

#include <string>

#include "cli/run_reporter.hpp"
#include "engine/run.hpp"

namespace impipe::cli {

struct RunSummary {
  std::string pipeline;
  std::string started;  // UTC
  double seconds = 0;
  int exit_code = 0;
  std::string error;  // why the whole run ended early; empty otherwise
};

// An object of JSON in one line: what was asked for, counts of files and bytes, failures by stage,
// warnings by kind, devices, versions.
std::string summary_json(const RunSummary& summary, const engine::RunOptions& options,
                         const engine::RunEnd& end, const RunReporter& reporter);

}  // namespace impipe::cli
