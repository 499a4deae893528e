// A launch, with the sizes that follow from its inputs'.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// A launch, with the sizes that follow from its inputs'.
class LaunchContext {
 public:
  explicit LaunchContext(const LaunchValues& values);
  const KernelSpec& spec() const { return *values_.spec; }
  Size size_of(const Operand& operand) const;
  const ValueShape& input(int index) const { return values_.inputs[index]; }
  const ValueShape& output(int index) const { return values_.outputs[index]; }
  // The planes that the launch works on.
  int count() const { return values_.count; }
  // The value of an argument that is not measured.
  double argument(int node, int index) const;
  double white_of(const Operand& operand) const;

 private:
  LaunchValues values_;
  std::vector<Size> sizes_;  // one a node
  Size first_;               // of the first image
};

// The part of `groups`, of a whole device, that each plane of a launch has.
inline std::int64_t groups_of_plane(const LaunchContext& at, std::int64_t groups) {
  return std::max<std::int64_t>(groups / at.count(),
                                std::min<std::int64_t>(groups, groups_of_stacked));
}

}  // namespace impipe::jit
