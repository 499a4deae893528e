// What `impipe export` writes: a pipeline's kernels for images of one size, as source for other
// programs. The engine makes the request, a backend's text the files.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe {

// An image or measurement of the pipeline; its index is what steps name.
struct ExportedValue {
  bool is_measure = false;
  PixelClass cls = PixelClass::uint8;
  Size size;  // images
  int channels = 1;
  std::int64_t values = 0;                                    // measurements: doubles a channel
  enum class Port { none, input, output } port = Port::none;  // how the other program sees it
  std::string name;  // of a port: "image", ":b", "result", "mean2"
};

struct ExportedStep {
  KernelSpec spec;                // of planes, with the arguments' values
  std::vector<int> inputs;        // values, one a kernel input
  std::vector<int> outputs;       // one a kernel output
  std::vector<int> unread_after;  // values that no later step reads
};

struct ExportRequest {
  std::string title;  // a line of comment: pipeline, class, size, version
  bool is_cuda = false;
  std::string vendor;  // whose row of tuning numbers
  std::vector<ExportedValue> values;
  std::vector<ExportedStep> steps;
};

struct ExportedFile {
  std::string name, text;
};

}  // namespace impipe
