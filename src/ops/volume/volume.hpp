// What the operators on volumes have in common.
#pragma once

#include "core/operator.hpp"
#include "core/volume.hpp"

namespace impipe::ops {

inline ImageReduction of_volume(Volume volume) {
  ImageReduction out;
  out.across = ImageReduction::Across::volume;
  out.volume = std::move(volume);
  return out;
}

// The pages that differ along one axis of their file alone are the planes of a volume.
inline ImageReduction of_volume(const Call& call, Volume volume) {
  ImageReduction out = of_volume(std::move(volume));
  out.or_all_pages = !call.given("axis");
  out.axis = out.or_all_pages ? 'z' : call.word("axis").front();
  return out;
}

inline Parameter axis_of_planes() {
  return {.name = "axis",
          .help =
              "of the file's axes the one that planes follow each other along (default: z, or "
              "all pages where axes have no names); those along the others are volumes of "
              "their own",
          .words = {"z", "t", "c"}};
}

// Numbers in the order rows, columns, planes; one is that of all three.
template <class T>
PerAxis<T> per_axis(const Call& call, std::string_view parameter) {
  const std::vector<double>& numbers = call.numbers(parameter);
  if (numbers.size() == 2) {
    call.fail(parameter, "it takes one number, or three: rows,columns,planes");
  }
  PerAxis<T> out;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out[axis] = static_cast<T>(numbers[numbers.size() == 3 ? axis : 0]);
  }
  return out;
}

}  // namespace impipe::ops
