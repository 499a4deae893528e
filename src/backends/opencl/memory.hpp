// Device memory: buffers from the device's pool.
#pragma once

#include <memory>

#include "backends/jit/runtime/memory_pool.hpp"
#include "backends/jit/runtime/page_locks.hpp"
#include "backends/opencl/loader.hpp"
#include "core/backend.hpp"

namespace impipe::opencl {

// A pool of the device's memory, for all its queues. most: bytes that it may hold; --gpu-mem may
// ask for less.
std::shared_ptr<jit::MemoryPool> make_pool(cl_context context, const std::string& device,
                                           std::int64_t most);

// By buffer objects of the memory: a driver locks what it is to use (CL_MEM_USE_HOST_PTR), and its
// transfers know it by its address.
std::shared_ptr<jit::PageLocks> make_page_locks(cl_context context);

inline cl_mem buffer_of(std::uint64_t handle) { return reinterpret_cast<cl_mem>(handle); }

}  // namespace impipe::opencl
