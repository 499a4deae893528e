// Runs the primitives that read their image as a whole.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/tile_pass.hpp"

namespace impipe::cpu {

// Makes the planes of an image node, the only one of its kernel.
void run_whole_images(const PlaneRuns& runs);

// The values of a measurement that reads inputs of the kernel, not tiles; p: of the plane graph.
std::vector<double> measured_whole(const PlaneRuns& runs, std::size_t p);

}  // namespace impipe::cpu
