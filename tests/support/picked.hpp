// The values of a plane kernel's inputs and outputs from those of the kernel it was made from.
#pragma once

#include <cstddef>
#include <vector>

namespace impipe::testing {

// which: PlaneKernel::inputs or outputs.
template <class T>
std::vector<T> picked(const std::vector<T>& values, const std::vector<int>& which) {
  std::vector<T> out;
  for (const int i : which) out.push_back(values[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace impipe::testing
