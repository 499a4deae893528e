// Histograms of the tiles of an image in a mirrored frame.
#pragma once

#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// [tiles][bins]
std::vector<double> tile_counts(const Histogram& histogram, double white, const Plane& in,
                                ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
