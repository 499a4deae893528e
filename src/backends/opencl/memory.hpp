// Device memory: buffers from the device's pool, and what lies in them.
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

inline cl_mem buffer_of(const jit::Block& block) {
  return reinterpret_cast<cl_mem>(block.handle());
}

class OpenClPlane final : public DevicePlane {
 public:
  // block: of jit::row_bytes(…) * height * channels * count bytes.
  OpenClPlane(PixelClass cls, int channels, Size size, int count, jit::Block block);
  int count() const override { return count_; }
  PixelClass cls() const override { return cls_; }
  int channels() const override { return channels_; }
  Size size() const override { return size_; }
  std::int64_t stride() const { return stride_; }
  cl_mem memory() const { return buffer_of(block_); }

 private:
  PixelClass cls_;
  int channels_;
  Size size_;
  int count_;
  std::int64_t stride_;  // bytes from row to row
  jit::Block block_;
};

class OpenClMeasure final : public DeviceMeasure {
 public:
  OpenClMeasure(int channels, std::int64_t values, int count, jit::Block block)
      : channels_(channels), values_(values), count_(count), block_(std::move(block)) {}
  int count() const override { return count_; }
  int channels() const override { return channels_; }
  std::int64_t values() const override { return values_; }
  cl_mem memory() const { return buffer_of(block_); }

 private:
  int channels_;
  std::int64_t values_;
  int count_;
  jit::Block block_;
};

}  // namespace impipe::opencl
