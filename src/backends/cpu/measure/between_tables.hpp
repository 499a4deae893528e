// Pixels between the tables of the tiles round them.
#pragma once

#include <span>

#include "core/body.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// tables: [tiles][bins].
void run_between_tables(const BetweenTables& between, std::span<const double> tables, double white,
                        const Plane& in, Plane& out, ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
