// What the queues of both GPU runtimes have in common: memory, and what a launch asks for before
// the driver gets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "backends/jit/program/program.hpp"
#include "backends/jit/runtime/device_values.hpp"
#include "backends/jit/runtime/memory_pool.hpp"
#include "backends/jit/runtime/page_locks.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

class GpuQueue : public Queue {
 public:
  GpuQueue(std::shared_ptr<MemoryPool> memory, std::shared_ptr<PageLocks> locks);
  ~GpuQueue() override;  // a runtime's own destructor waits for the work before
  GpuQueue(const GpuQueue&) = delete;
  GpuQueue& operator=(const GpuQueue&) = delete;

  std::shared_ptr<DevicePlane> upload(const Planes& image) override;
  Planes download(const DevicePlane& image) override;
  Queue* beside(int number) override;
  bool reaches(const Planes& image) override;
  std::shared_ptr<DevicePlane> allocate(PixelClass cls, int channels, Size size) override;
  std::shared_ptr<DeviceMeasure> allocate_measure(int channels, std::int64_t values) override;
  std::shared_ptr<DevicePlane> allocate_stack(PixelClass cls, int channels, Size size,
                                              int count) override;
  std::shared_ptr<DeviceMeasure> allocate_measure_stack(int channels, std::int64_t values,
                                                        int count) override;
  bool has_parts(PixelClass cls, int channels, Size size) const override;
  std::shared_ptr<DevicePlane> part(const std::shared_ptr<DevicePlane>& stack, int first,
                                    int count) override;
  std::shared_ptr<DevicePlane> plane_in_place(const DeviceArray& array) override;
  std::shared_ptr<DevicePlane> gathered(const DeviceArray& array, const Kernel& gather) override;
  std::shared_ptr<DevicePlane> joined(
      std::span<const std::shared_ptr<DevicePlane>> planes) override;
  DeviceArray array_of(const DevicePlane& plane) override;
  std::shared_ptr<DeviceMeasure> upload_measure(std::span<const double> numbers, int channels,
                                                int count) override;
  using Queue::download;

 protected:
  // A launch with the memory that it takes for itself. That goes back to the lane at the end: later
  // work of the lane comes after it.
  struct PreparedLaunch {
    LaunchPlan plan;
    std::vector<MemoryBlock> blocks;
    std::vector<std::uint64_t> scratch;  // handles, one of each plan.scratch
  };
  PreparedLaunch prepared(const Program& program, const Launch& launch);
  // Handles of a pass's buffers, in their order.
  static std::vector<std::uint64_t> buffers_of(const Pass& pass, const Launch& launch,
                                               const PreparedLaunch& prepared);

  MemoryBlock take(std::int64_t bytes) { return memory_->allocate(bytes, lane_); }
  bool reaches_all(std::span<const Planes> images);
  // A transfer that was given to the device reads or writes their memory: it stays until `let_go`,
  // after the work was waited for.
  void hold(Planes image) { held_.push_back(std::move(image)); }
  void let_go() { held_.clear(); }
  // Whether what a launch copies to the device is there for the launches after it.
  virtual bool copies_at_once() const { return true; }
  // Bytes a second, read plus written, of copies; 0 when there is no memory for them.
  double measured_copy(const std::function<double(const MemoryBlock& from, const MemoryBlock& to,
                                                  std::int64_t)>& seconds);

  const std::shared_ptr<MemoryPool> memory_;
  const std::shared_ptr<PageLocks> locks_;

 private:
  virtual std::unique_ptr<Queue> make_beside() = 0;
  // Fills memory with zeros, in the lane's order.
  virtual void clear(std::uint64_t handle, std::int64_t bytes) = 0;
  // What kernels take as a buffer that begins there; 0 where they cannot.
  virtual std::uint64_t handle_at(std::uint64_t memory, std::int64_t offset) const = 0;
  // Buffers that begin at multiples of so many bytes of another one.
  virtual std::int64_t part_alignment() const = 0;
  // What kernels take as a buffer of bytes [offset, offset + bytes) of another one; null where the
  // device refuses.
  virtual std::shared_ptr<const std::uint64_t> part_of(std::uint64_t memory, std::int64_t offset,
                                                       std::int64_t bytes) const = 0;
  // All rows, to those from row `first` of all planes on, in the lane's order.
  virtual void copy(const PooledPlane& from, const PooledPlane& to, std::int64_t first) = 0;
  // Memory with these contents. parts: one behind the other; none is empty.
  virtual MemoryBlock filled(std::span<const std::span<const std::byte>> parts) = 0;
  // The memory of scratch that begins with contents, for one launch.
  std::uint64_t constants_of(const Scratch& wanted, std::vector<MemoryBlock>& blocks);

  int lane_;
  std::vector<Planes> held_;
  std::vector<std::unique_ptr<Queue>> beside_;
  // What kernels read and never write, such as weights, is the same for every file of a batch. To
  // copy it for each launch takes 5 to 100 us of the device's time. The last ones, the newest at
  // the end.
  struct Constants {
    std::vector<std::byte> contents;
    MemoryBlock block;
  };
  std::deque<Constants> constants_;
  MemoryBlock tickets_;  // Scratch::kept
};

}  // namespace impipe::jit
