// Decides which tiles the kernels of a benchmark's variant read a pixel's neighbours from. No text
// is written here.
#pragma once

#include <optional>

#include "backends/jit/program/kernel_context.hpp"
#include "backends/jit/program/pixel_tile.hpp"

namespace impipe::jit {

// Of the plane that neighbourhood node n reads; of the row pass, where it has two. Nothing where no
// variant asks for it or local memory does not hold it.
std::optional<PixelTile> pixel_tile_of(const KernelContext& of, const Planes& planes, int n);
// Of what the column pass of separable node n reads.
std::optional<PixelTile> pixel_tile_of_columns(const KernelContext& of, int n);

}  // namespace impipe::jit
