// How an extremum is computed: decided from the mask alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// Neighbouring set cells of one row of a mask; x and y count from the mask's first cell.
struct MaskRun {
  int y = 0, x = 0, length = 0;
  bool operator==(const MaskRun&) const = default;
};

struct ExtremumPlan {
  enum class Method {
    nothing,    // no cell is set
    rectangle,  // columns, then rows, at a cost that hardly grows with the sides
    runs,       // the extrema of runs once an input row, then one value a run and output row
  };
  Method method = Method::nothing;
  std::vector<MaskRun> runs;  // top to bottom, left to right
  std::vector<int> lengths;   // the different lengths of the runs, ascending
  // The smallest rectangle round the set cells.
  int left = 0, top = 0, width = 0, height = 0;
};

ExtremumPlan plan_extremum(const Mask& mask);

// One pass over a row that takes a window of `from` pixels to one of `to` pixels: value i of the
// result is the extremum of the values i + offset, one an offset.
struct WindowPass {
  int from = 0, to = 0;
  std::vector<int> offsets;
};
// The passes that make a window of `length` pixels; each reads at most 8 values.
std::vector<WindowPass> window_passes(int length);

}  // namespace impipe::cpu
