// Kernels for planes: what backends run. Images are planar: a channel is a plane. A kernel that
// mixes no channels is the same for every plane, and a backend runs it once a plane, as it does for
// the images of a stack. One that mixes channels is written out channel by channel.
#pragma once

#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe {

// A kernel in which every image has one channel, and which values of the kernel that it was made
// from it reads and writes.
struct PlaneKernel {
  KernelSpec spec;
  std::vector<int> inputs;   // one an input of `spec`: the input of the original
  std::vector<int> outputs;  // one an output of `spec`: the output of the original
};

// The same computation, plane by plane; where image nodes of `spec` have different numbers of
// channels, or a Point mixes them, written out channel by channel. OnHost stays as it is. Throws
// Error (ExitCode::backend) for what can't be split: our bug.
PlaneKernel plane_kernel(const KernelSpec& spec);

// Where a plane (or the values of a channel) lies that a kernel reads or writes for plane `item` of
// its launch: counted in planes from the first of the stack. channels: of the stack's images;
// planes: KernelSpec::planes.
std::int64_t plane_of(int channel, std::int64_t item, int channels, int planes);

}  // namespace impipe
