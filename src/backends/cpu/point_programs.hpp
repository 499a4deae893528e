// The programs and lookup tables of a launch's points.
#pragma once

#include <cstddef>

#include "backends/cpu/tile_pass.hpp"

namespace impipe::cpu {

// Gives the point at this place of the plane graph its program and its table, if it has one. The
// nodes before it, and their arguments, are there.
void prepare_point(PlaneRuns& runs, std::size_t p);

}  // namespace impipe::cpu
