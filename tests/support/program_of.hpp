// The program of a kernel of the table: its planes', as the backends make it.
#pragma once

#include "backends/jit/generator.hpp"
#include "core/plane_kernel.hpp"

namespace impipe::testing {

inline jit::Program program_of(const KernelSpec& spec, jit::Dialect dialect, jit::Tuning tuning) {
  const PlaneKernel planes = plane_kernel(spec);
  tuning.stacked = planes.spec.planes > 1;
  return jit::generate(planes.spec, dialect, tuning);
}

}  // namespace impipe::testing
