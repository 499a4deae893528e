// A device's context and its memory.
#pragma once

#include <memory>
#include <string>

#include "backends/cuda/api.hpp"
#include "backends/jit/runtime/memory_pool.hpp"
#include "backends/jit/runtime/page_locks.hpp"
#include "core/backend.hpp"

namespace impipe::cuda {

// The device's primary context, made current on the calling thread by `use`.
class DeviceContext {
 public:
  explicit DeviceContext(DeviceNumber device);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;
  void use() const;
  // For destructors, which may run while an error is on its way, or after the driver has ended:
  // whether it is current now.
  bool try_use() const noexcept;

 private:
  DeviceNumber device_;
  Context context_ = nullptr;
};

// The pool outlives what was taken from it, and keeps the context.
std::shared_ptr<jit::MemoryPool> make_pool(const std::shared_ptr<const DeviceContext>& context,
                                           const std::string& device);

// For all devices of the process together.
std::shared_ptr<jit::PageLocks> page_locks(const std::shared_ptr<const DeviceContext>& context);

// Host memory that the device reads and writes by itself. Its context must be in use.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace impipe::cuda
