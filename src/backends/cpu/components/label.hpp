// Connected sets of pixels: components, holes, regional extrema, reconstruction, hysteresis.
#pragma once

#include <vector>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// images: of one channel and one size; out: of that size. argument: of Label::Kind::large.
// The time is linear in the pixels, whatever they show (reconstruct and gray holes: times the
// logarithm of the pixels that are raised). Throws Error for components that single can't number.
void run_label(const Label& label, double argument, const std::vector<const Plane*>& images,
               Plane& out, ThreadPool& pool, CpuLevel level);

// Parts of the above in files of their own.
// images: marker and mask, of one class, not logical.
void run_reconstruct(int connectivity, const Plane& marker, const Plane& mask, Plane& out,
                     ThreadPool& pool, CpuLevel level);
// What the border does not reach from outside, of an image that is not logical.
void run_gray_holes(int connectivity, const Plane& image, Plane& out, ThreadPool& pool,
                    CpuLevel level);
// codes: see Label::Kind::reach.
void run_reach(const Plane& codes, Plane& out, ThreadPool& pool, CpuLevel level);
// Label::Kind::flood: one pixel after another, in an order that the result follows from. Throws
// Error for NaN.
void run_flood(int connectivity, const Plane& heights, const Plane& labels, Plane& out);

}  // namespace impipe::cpu
