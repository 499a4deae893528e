// Entropy of the codes around each pixel.
#pragma once

#include <vector>

#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// table: the node's arguments; in: of bytes; out: single.
void run_entropy(const Entropy& entropy, const std::vector<double>& table, const Plane& in,
                 Plane& out, ThreadPool& pool);

}  // namespace impipe::cpu
