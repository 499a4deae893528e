// How strips share an image.
#pragma once

#include <cstdint>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Pixels of a work-item, side by side.
inline constexpr int strip_px = 4;
inline constexpr int strip_wave = 32;
inline constexpr int strip_items = 128;
inline constexpr int strip_waves = strip_items / strip_wave;
// Pixels by which waves lie side by side.
inline constexpr int strip_across = (strip_wave - 2) * strip_px;

struct StripSize {
  int turn = 0;    // rows of a turn of the loop
  int around = 0;  // rows that a strip reads above and below itself
  int above = 0;   // of those, which the turns make too
  int processors = 1;

  int rows(int turns) const { return turns * turn - above; }
  // Turns of a strip: of long ones little is made twice, short ones keep all processors busy to the
  // end.
  int turns(Size size) const;
  LaunchShape groups(Size size) const;
};

}  // namespace impipe::jit
