// Device memory: buffers of size classes that a lane uses again.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/opencl/loader.hpp"
#include "core/backend.hpp"

namespace impipe::opencl {

// Owns a buffer object.
class Memory {
 public:
  Memory() = default;
  explicit Memory(cl_mem handle) : handle_(handle) {}
  Memory(Memory&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Memory() {
    if (handle_ != nullptr) calls()->clReleaseMemObject(handle_);
  }
  cl_mem get() const { return handle_; }

 private:
  cl_mem handle_ = nullptr;
};

// The free buffers of one lane. What its work is done with may be used again at once, since the
// lane's work is done in order. Any thread.
class Pool {
 public:
  // cap: bytes that are kept for reuse at most.
  Pool(cl_context context, std::string device, std::int64_t cap)
      : context_(context), device_(std::move(device)), cap_(cap) {}

  // At least `bytes`. Throws Error when memory is out, after giving back what was kept.
  Memory take(std::int64_t bytes);
  void give(Memory memory, std::int64_t bytes);

 private:
  static std::int64_t size_class(std::int64_t bytes);

  cl_context context_;
  std::string device_;
  std::int64_t cap_;
  std::mutex mutex_;
  std::map<std::int64_t, std::vector<Memory>> free_;  // size class -> buffers
  std::int64_t kept_ = 0;
};

// A buffer from a pool, given back at the end.
class PooledMemory {
 public:
  PooledMemory(std::shared_ptr<Pool> pool, std::int64_t bytes)
      : pool_(std::move(pool)), bytes_(bytes), memory_(pool_->take(bytes)) {}
  ~PooledMemory() {
    // Another lane may still be at work on it: the driver frees it when that is done.
    if (!foreign_ && memory_.get() != nullptr) pool_->give(std::move(memory_), bytes_);
  }
  PooledMemory(PooledMemory&&) = default;
  PooledMemory(const PooledMemory&) = delete;
  PooledMemory& operator=(const PooledMemory&) = delete;
  cl_mem get() const { return memory_.get(); }
  // Called by the lane that is about to use it.
  void used_by(const Pool& lane) {
    if (&lane != pool_.get()) foreign_ = true;
  }

 private:
  std::shared_ptr<Pool> pool_;
  std::int64_t bytes_;
  Memory memory_;
  bool foreign_ = false;
};

class OpenClPlane final : public DevicePlane {
 public:
  OpenClPlane(std::shared_ptr<Pool> pool, PixelClass cls, int channels, Size size, int count);
  int count() const override { return count_; }
  PixelClass cls() const override { return cls_; }
  int channels() const override { return channels_; }
  Size size() const override { return size_; }
  std::int64_t stride() const { return stride_; }
  PooledMemory memory;

 private:
  OpenClPlane(std::shared_ptr<Pool> pool, PixelClass cls, int channels, Size size, int count,
              std::int64_t stride);
  PixelClass cls_;
  int channels_;
  Size size_;
  int count_;
  std::int64_t stride_;  // bytes from row to row
};

class OpenClMeasure final : public DeviceMeasure {
 public:
  OpenClMeasure(std::shared_ptr<Pool> pool, int channels, std::int64_t values, int count)
      : memory(std::move(pool), count * channels * values * 8),
        channels_(channels),
        values_(values),
        count_(count) {}
  int count() const override { return count_; }
  int channels() const override { return channels_; }
  std::int64_t values() const override { return values_; }
  PooledMemory memory;

 private:
  int channels_;
  std::int64_t values_;
  int count_;
};

}  // namespace impipe::opencl
