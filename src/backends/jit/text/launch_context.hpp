// A launch, with the sizes that follow from its inputs'.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// A launch, with the sizes that follow from its inputs'.
class LaunchContext {
 public:
  explicit LaunchContext(const LaunchValues& values);
  const KernelSpec& spec() const { return *values_.spec; }
  Size size_of(const Operand& operand) const;
  const Node& node(int n) const { return spec().nodes[n]; }
  // The shape of an input or an output.
  const ValueShape& shape_of(const Buffer& place) const {
    const bool input = place.kind == Buffer::Kind::input;
    return (input ? values_.inputs : values_.outputs)[place.index];
  }
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

using ShapeFunction = std::function<LaunchShape(const LaunchContext&)>;
// Whether a launch needs a kernel.
using LaunchTest = std::function<bool(const LaunchContext&)>;
// A whole number of a launch, as the bytes of scratch memory.
using LaunchNumber = std::function<std::int64_t(const LaunchContext&)>;

// Launches of groups of `items` work-items: of so many groups, of as many as `count` work-items
// fill, of one for each tile of an image.
ShapeFunction launch_groups(std::int64_t groups, int items);
ShapeFunction launch_items(LaunchNumber count, int items);
LaunchShape launch_tiles(Size size, std::int64_t across, std::int64_t down, int items);
ShapeFunction launch_tiles(const Operand& image, std::int64_t across, std::int64_t down, int items);

}  // namespace impipe::jit
