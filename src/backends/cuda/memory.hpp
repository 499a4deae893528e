// A device's context, its memory and what lies in it.
#pragma once

#include <memory>
#include <string>

#include "backends/cuda/api.hpp"
#include "backends/jit/runtime/memory_pool.hpp"
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

 private:
  DeviceNumber device_;
  Context context_ = nullptr;
};

// The pool outlives what was taken from it, and keeps the context.
std::shared_ptr<jit::MemoryPool> make_pool(std::shared_ptr<const DeviceContext> context,
                                           const std::string& device);

class CudaPlane final : public DevicePlane {
 public:
  CudaPlane(PixelClass cls, int channels, Size size, int count, jit::Block block)
      : cls_(cls), channels_(channels), size_(size), count_(count), block_(std::move(block)) {}
  int count() const override { return count_; }
  PixelClass cls() const override { return cls_; }
  int channels() const override { return channels_; }
  Size size() const override { return size_; }
  DevicePointer pointer() const { return block_.handle(); }

 private:
  PixelClass cls_;
  int channels_;
  Size size_;
  int count_;
  jit::Block block_;
};

class CudaMeasure final : public DeviceMeasure {
 public:
  CudaMeasure(int channels, std::int64_t values, int count, jit::Block block)
      : channels_(channels), values_(values), count_(count), block_(std::move(block)) {}
  int count() const override { return count_; }
  int channels() const override { return channels_; }
  std::int64_t values() const override { return values_; }
  DevicePointer pointer() const { return block_.handle(); }

 private:
  int channels_;
  std::int64_t values_;
  int count_;
  jit::Block block_;
};

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
