// The inner parts of error diffusion, compiled for each instruction set. A band of rows advances as
// a slanted front: at step t its row r is at column t - 2 r, so that everything a pixel needs from
// the row over it was made one, two and three steps ago.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

inline constexpr int diffuse_band = 16;  // rows of a front
// Steps after the first until the last row starts.
inline constexpr std::int64_t diffuse_lag = 2 * (diffuse_band - 1);

// The errors that the next steps need, one a row.
struct alignas(64) DiffuseState {
  double here[diffuse_band] = {};       // of the pixel to the left
  double over[diffuse_band] = {};       // over it
  double over_left[diffuse_band] = {};  // over that one's left neighbour
};

// Steps from .. to - 1 of a front. values: [to - from][diffuse_band], the pixels / white, which get
// the errors of their neighbours added. above_right: [to - from], the errors of the row over the
// band, in the column to the right of the first row's.
struct DiffuseSteps {
  std::int64_t from = 0, to = 0, width = 0;
  const double* above_right = nullptr;
  double* values = nullptr;
};
using RunDiffuseSteps = void (*)(const DiffuseSteps& steps, DiffuseState& state);
RunDiffuseSteps run_diffuse_steps(CpuLevel level);

// n pixels / white.
using ScalePixels = void (*)(const std::byte* in, double white, std::int64_t n, double* out);
ScalePixels scale_pixels(PixelClass cls, CpuLevel level);

}  // namespace impipe::cpu
