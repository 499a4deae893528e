// Replacements of a point body in fixed point or float32, verified for every pixel value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/point/fixed_sum.hpp"
#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// What gives the same codes as double for every pair of codes.
struct ExactShortcut {
  std::optional<FixedSum> fixed;
  bool single = false;      // float32 does
  bool difference = false;  // |first - second| of bytes does
};

// For a body of two inputs of these classes. Nothing when they have too many pairs of codes to
// try, or the image has too few elements for a trial to pay. Trials are remembered. Any thread.
ExactShortcut exact_shortcut(const PointBody& body, const std::vector<double>& args,
                             PixelClass first, PixelClass second, PixelClass result,
                             std::int64_t elements, CpuLevel level);

}  // namespace impipe::cpu
