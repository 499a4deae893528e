// Naive evaluation of a kernel: every node over its whole image, pixel by pixel, borders by a
// function of the coordinates. The numbers are those of docs/architecture.md.
#pragma once

#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::testing {

struct SpecImage {
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  std::int64_t width = 0, height = 0;
  std::vector<double> values;  // row major, interleaved
  double& at(std::int64_t x, std::int64_t y, int c) {
    return values[(y * width + x) * channels + c];
  }
  double at(std::int64_t x, std::int64_t y, int c) const {
    return values[(y * width + x) * channels + c];
  }
};

// An image, or a measurement: [channels][values].
struct SpecResult {
  SpecImage image;
  std::vector<double> measure;
};

// One result a node. Expressions are not evaluated here.
std::vector<SpecResult> evaluate_spec(const KernelSpec& spec,
                                      const std::vector<SpecResult>& inputs);

}  // namespace impipe::testing
