// Decides which tiles kernels of one pixel a work-item read its neighbours from: those of bodies
// with large windows, and those that a benchmark's variant asks for. No text is written here.
#pragma once

#include <optional>

#include "backends/jit/program/kernel_context.hpp"
#include "backends/jit/program/pixel_tile.hpp"

namespace impipe::jit {

// Of the plane that neighbourhood node n reads; of the row pass, where it has two. Nothing where no
// variant asks for it or local memory does not hold it.
std::optional<PixelTile> pixel_tile_of(const KernelContext& of, const Planes& planes, int n);
// Of the plane that stencil node n reads, whose body reads more pixels than registers hold. Each of
// them is read by many work-items: local memory has it as a number.
std::optional<PixelTile> framed_tile_of(const KernelContext& of, const Planes& planes, int n);
// Of what the column pass of separable node n reads.
std::optional<PixelTile> pixel_tile_of_columns(const KernelContext& of, int n);

}  // namespace impipe::jit
