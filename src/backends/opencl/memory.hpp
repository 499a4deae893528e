// Device memory: buffers from the device's pool.
#pragma once

#include <memory>

#include "backends/jit/runtime/memory_pool.hpp"
#include "backends/opencl/loader.hpp"
#include "core/backend.hpp"

namespace impipe::opencl {

// A pool of the device's memory, for all its queues. most: bytes that it may hold; --gpu-mem may
// ask for less.
std::shared_ptr<jit::MemoryPool> make_pool(cl_context context, const std::string& device,
                                           std::int64_t most);

inline cl_mem buffer_of(std::uint64_t handle) { return reinterpret_cast<cl_mem>(handle); }

}  // namespace impipe::opencl
