// How strips share an image.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Pixels of a work-item, side by side.
inline constexpr int strip_px = 4;
inline constexpr int strip_sub_group = 32;
inline constexpr int strip_items = 128;
inline constexpr int strip_sub_groups = strip_items / strip_sub_group;
// Pixels by which sub-groups lie side by side.
inline constexpr int strip_across = (strip_sub_group - 2) * strip_px;

struct StripSize {
  int iteration = 0;  // rows of a iteration of the loop
  int around = 0;     // rows that a strip reads above and below itself
  int above = 0;      // of those, which the iterations make too
  int processors = 1;

  int rows(int iterations) const { return iterations * iteration - above; }
  // Iterations of a strip: of long ones little is made twice, short ones keep all processors busy
  // to the end.
  int iterations(Size size) const;
  LaunchShape groups(Size size) const;
};

}  // namespace impipe::jit
