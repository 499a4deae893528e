// Runs a pipeline's text on an image on the CPU, as the program does: parse, bind, lower, fuse,
// execute.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::test {

struct Ran {
  HostImage image;                 // no pixels when the pipeline ends in a measurement
  std::vector<std::string> names;  // of the columns
  std::vector<double> columns;
  // The last one, [channels][values]; of an object table how many rows, then those.
  std::vector<double> measurement;
  int steps = 0;
};

struct RunOptions {
  bool fuse = true;
  bool strict = false;
  std::optional<CpuLevel> level = std::nullopt;  // of the CPU; the best there is unless given
  std::string backend = "";                      // the CPU, or what IMPIPE_TEST_BACKEND names
  bool compile_aside = true;  // not where a driver bears one thread at a time only: Oclgrind's
};

// Whether this processor has the instructions.
bool has_level(CpuLevel level);
// Whether IMPIPE_REQUIRE_BACKEND names the backend: tests fail without it.
bool is_required(const std::string& backend);
// Whether a backend has a usable device. Throws Error when it has none and is required.
bool has_device(const std::string& backend);
// Before the process ends, for drivers that do not outlive main: Oclgrind's.
void close_devices();

Ran run(std::string_view text, const HostImage& image,
        const std::map<std::string, HostImage>& operands = {}, const RunOptions& options = {});
// Several images of one type and size in one launch a step, each with the same operands; nothing
// where the pipeline or the device takes no stacks.
std::vector<Ran> run_stack(std::string_view text, const std::vector<HostImage>& images,
                           const std::map<std::string, HostImage>& operands,
                           const RunOptions& options);
// Of a pipeline that starts with a source.
Ran run(std::string_view text, const RunOptions& options = {});

// The text of the error that `run` throws; empty when it does not.
std::string error_of(std::string_view text, const HostImage& image,
                     const std::map<std::string, HostImage>& operands = {},
                     const RunOptions& options = {});

}  // namespace impipe::test
