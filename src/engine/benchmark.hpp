// Times a pipeline on one image, from decoded pixels to the result in host memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/session.hpp"

namespace impipe::engine {

struct BenchmarkOptions {
  DeviceChoice device;
  SessionOptions session;
  Size size = {2048, 2048};
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  std::string input;  // a picture file instead of the made one
  int threads = 1;
  int repeat = 0;  // runs; 0: as many as fit into about a second, at least 5
};

struct BenchmarkResult {
  double median_ms = 0, min_ms = 0;
  int runs = 0;
};

// The made image is the same in every run: shapes, gradients and noise. Each image that the
// pipeline wants from --with is another of the same kind.
BenchmarkResult benchmark(pipeline::Pipeline pipeline, const BenchmarkOptions& options);

}  // namespace impipe::engine
