// What a dialect's compiler can do and what it does well: a row a dialect.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

struct DialectFeatures {
  bool exchanges = false;         // work-items of a sub-group read one another's registers
  bool limits_registers = false;  // of a kernel, so that a large block keeps groups at once
  bool orders_nan = false;        // an instruction takes the larger of two floats, or NaN
  bool uneven_loops = false;      // barriers stay in step between loops of unequal length
  bool split_groups = false;      // sub-groups of a group do different things and wait for another
  bool tile_queues = false;    // kernels whose groups take tiles from a queue compile in a second
  bool large_groups = false;   // of 512 work-items, with more local memory than all devices have
  bool silent_unroll = false;  // no warning where a loop can't be unrolled
  bool spills = false;         // registers of long windows and of several reductions
  // The by-value struct: a CUDA kernel takes 4 KB, OpenCL promises 1 KB, pointers included.
  int parameter_bytes = 960;
};

constexpr DialectFeatures features_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::opencl: break;
    case Dialect::opencl_nvidia:
      return {.exchanges = true,
              .limits_registers = true,
              .orders_nan = true,
              .uneven_loops = true,
              .tile_queues = true,
              .large_groups = true,
              .spills = true};
    case Dialect::cuda:
      return {.exchanges = true,
              .limits_registers = true,
              .orders_nan = true,
              .uneven_loops = true,
              .split_groups = true,
              .tile_queues = true,
              .large_groups = true,
              .silent_unroll = true,
              .parameter_bytes = 3584};
  }
  return {};
}

}  // namespace impipe::jit
