// Planes and measurements in a GPU's memory.
#pragma once

#include <utility>

#include "backends/jit/program/program.hpp"
#include "backends/jit/runtime/memory_pool.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

class PooledPlane final : public DevicePlane {
 public:
  // block: of stride() * height * channels * count bytes.
  PooledPlane(PixelClass cls, int channels, Size size, int count, MemoryBlock block)
      : cls_(cls), channels_(channels), size_(size), count_(count), block_(std::move(block)) {}
  // A part of a stack; handle: of its memory.
  PooledPlane(const PooledPlane& stack, Part part, int count,
              std::shared_ptr<const std::uint64_t> handle)
      : PooledPlane(stack.cls_, stack.channels_, stack.size_, count,
                    MemoryBlock::of_others(*handle)) {
    part_ = std::move(part);
    owner_ = std::move(handle);
  }
  int count() const override { return count_; }
  PixelClass cls() const override { return cls_; }
  int channels() const override { return channels_; }
  Size size() const override { return size_; }
  Part part() const override { return part_; }
  std::int64_t image_bytes() const { return stride() * size_.height * channels_; }
  std::int64_t stride() const { return row_bytes(cls_, size_); }  // bytes from row to row
  std::uint64_t handle() const { return block_.handle(); }

 private:
  PixelClass cls_;
  int channels_;
  Size size_;
  int count_;
  Part part_;
  std::shared_ptr<const std::uint64_t> owner_;
  MemoryBlock block_;
};

class PooledMeasure final : public DeviceMeasure {
 public:
  PooledMeasure(int channels, std::int64_t values, int count, MemoryBlock block)
      : channels_(channels), values_(values), count_(count), block_(std::move(block)) {}
  int count() const override { return count_; }
  int channels() const override { return channels_; }
  std::int64_t values() const override { return values_; }
  std::uint64_t handle() const { return block_.handle(); }

 private:
  int channels_;
  std::int64_t values_;
  int count_;
  MemoryBlock block_;
};

// The memory of a value that a GPU's queue has made.
inline std::uint64_t handle_of(const DeviceValue& value) {
  if (value.plane) return static_cast<const PooledPlane&>(*value.plane).handle();
  return static_cast<const PooledMeasure&>(*value.measure).handle();
}

}  // namespace impipe::jit
