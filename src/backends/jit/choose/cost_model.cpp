#include "backends/jit/choose/chooser.hpp"

#include <cmath>

namespace impipe::jit {

double microseconds(const Work& work, const Tuning& tuning) {
  const double memory = reference_pixels * work.bytes / tuning.bytes_a_microsecond;
  const double arithmetic = reference_pixels * work.operations / tuning.operations_a_microsecond;
  return work.launches * tuning.launch_microseconds + std::hypot(memory, arithmetic);
}

}  // namespace impipe::jit
