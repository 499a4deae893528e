// A part of an image, or an image with a frame around it.
#pragma once

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

// The output rectangle `region` of a Window node. outside: the value there, for Border::constant.
void run_window(const Node& node, const TileImage& in, const Region& region, double outside,
                TileOut out);

}  // namespace impipe::cpu
