// Device memory: buffers from the device's pool.
#pragma once

#include <memory>
#include <utility>

#include "backends/jit/runtime/memory_pool.hpp"
#include "backends/opencl/loader.hpp"
#include "core/backend.hpp"

namespace impipe::opencl {

// Owns a buffer object.
class Memory {
 public:
  explicit Memory(cl_mem handle) : handle_(handle) {}
  Memory(Memory&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Memory& operator=(Memory&& other) = delete;
  ~Memory() {
    if (handle_ != nullptr) calls()->clReleaseMemObject(handle_);
  }
  cl_mem get() const { return handle_; }

 private:
  cl_mem handle_;
};

// A pool of the device's memory, for all its queues. most: bytes that it may hold; --gpu-mem may
// ask for less.
std::shared_ptr<jit::MemoryPool> make_pool(cl_context context, const std::string& device,
                                           std::int64_t most);

inline cl_mem buffer_of(std::uint64_t handle) { return reinterpret_cast<cl_mem>(handle); }

}  // namespace impipe::opencl
