// Tiles of an image in a mirrored frame: their counts, and pixels between tables of theirs.
#pragma once

#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// [tiles][bins]
std::vector<double> tile_counts(const TileHistogram& histogram, double white, const Plane& in,
                                ThreadPool& pool);

// tables: [tiles][bins].
void run_between_tables(const BetweenTables& between, std::span<const double> tables, double white,
                        const Plane& in, Plane& out, ThreadPool& pool);

}  // namespace impipe::cpu
