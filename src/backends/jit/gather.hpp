// Programs that no spec describes.
#pragma once

#include "backends/jit/generator.hpp"
#include "backends/jit/program/program.hpp"
#include "backends/jit/text/dialect.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

// Copies the pixels of another library's array, of any strides, to planes. Launched with
// LaunchValues that have an array and no spec; the input is the array's memory, the
// output an image of its type and size.
Program gather(Dialect dialect);

// Makes one NaN of all that leave a device, see core/one_nan.hpp. Launched with LaunchValues that
// have no spec; the output is a stack of images of single.
Program one_nan(Dialect dialect);

// The plain copy and the plain read that other kernels are measured against. Launched with
// LaunchValues that have no spec. copy_bytes: that a work-item copies, 1 to 16.
Program bandwidth_baseline(Baseline baseline, Dialect dialect, int copy_bytes = 16);

}  // namespace impipe::jit
