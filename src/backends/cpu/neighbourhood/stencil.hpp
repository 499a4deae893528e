// Stencil and separable nodes: float32 neighbourhoods, a tile at a time.
#pragma once

#include <memory>

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/row_evaluator.hpp"

namespace impipe::cpu {

// One thread's evaluator of a stencil expression.
using StencilState = std::unique_ptr<RowEvaluator<float>>;

// Makes the rectangle `region` of the node's result. white: of the input.
void run_stencil(const Node& node, const Arguments& arguments, const TileImage& in,
                 const Region& region, double white, TileOut out, StencilState& state,
                 Scratch& scratch, CpuLevel level);
void run_separable(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
