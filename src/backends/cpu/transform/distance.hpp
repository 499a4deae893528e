// The distance of every pixel to the nearest one that is not 0.
#pragma once

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// in: one channel of any class; out: single, one channel, of the same size. Exact: euclidean is the
// square root of the integer squared distance, rounded to single; infinite, or index 0, when no
// pixel is set. Of several nearest pixels the index is that of the one in the column farthest to
// the left, and in that column of the one nearest in row, the upper one of two.
// The time is linear in the pixels and depends on their values hardly at all.
void run_distance(const Distance& distance, const Plane& in, Plane& out, ThreadPool& pool,
                  CpuLevel level);

}  // namespace impipe::cpu
