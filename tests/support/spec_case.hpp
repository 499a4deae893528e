// Runs hand-made kernels on the CPU backend, with guard bytes in the planes.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "backends/cpu/device.hpp"
#include "support/reference/spec.hpp"

namespace impipe::testing {

// Makes specs shorter to write.
class SpecBuilder {
 public:
  Operand input(PixelClass cls, int channels, double white = 255);
  Operand add(Primitive primitive, std::vector<Operand> images, std::vector<double> arguments,
              PixelClass cls, int channels);
  Operand measure(Primitive primitive, Operand image, std::vector<double> arguments, int channels,
                  std::int64_t values);
  Node& last() { return spec_.nodes.back(); }
  // These nodes leave the kernel.
  KernelSpec finish(const std::vector<Operand>& outputs);

 private:
  KernelSpec spec_;
};

Mask rectangle(int width, int height, int origin_x, int origin_y);

SpecResult random_image(std::mt19937& random, PixelClass cls, int channels, Size size,
                        bool with_nan);

// One result an output. Fails the test when guard bytes were changed.
std::vector<SpecResult> run_spec(const KernelSpec& spec, const std::vector<SpecResult>& inputs,
                                 CpuLevel level, int threads);

// Every node as a kernel of its own; results in the order of spec.outputs.
std::vector<SpecResult> run_unfused(const KernelSpec& spec, const std::vector<SpecResult>& inputs,
                                    CpuLevel level, int threads);

// Empty when equal bit for bit (any NaN equals any other, +0 equals -0), else where they differ.
std::string difference(const SpecResult& a, const SpecResult& b);

std::vector<CpuLevel> usable_levels();

}  // namespace impipe::testing
