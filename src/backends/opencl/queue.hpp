// One lane of work on an OpenCL device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/jit/runtime/queue.hpp"
#include "backends/opencl/compile.hpp"
#include "backends/opencl/memory.hpp"

namespace impipe::opencl {

class OpenClQueue final : public jit::GpuQueue {
 public:
  OpenClQueue(cl_context context, cl_device_id device, bool is_gpu,
              std::shared_ptr<jit::MemoryPool> memory, std::shared_ptr<jit::PageLocks> locks);
  ~OpenClQueue() override;

  std::shared_ptr<DevicePlane> upload_stack(std::span<const Planes> images) override;
  std::vector<Planes> download_stack(const DevicePlane& images) override;
  std::shared_ptr<DevicePlane> upload_rows(const Planes& image, std::int64_t begin,
                                           std::int64_t end) override;
  void download_rows(const DevicePlane& image, std::int64_t first, const Planes& to,
                     std::int64_t begin, std::int64_t end) override;
  std::vector<double> download(const DeviceMeasure& measure) override;
  using GpuQueue::download;
  void run(const Kernel& kernel, const Launch& launch) override;
  void begin_notes() override;
  std::vector<Activity> take_notes() override;
  void wait() override;
  double time() override;
  // GPUs: all of it is queued while the device is kept busy.
  std::vector<double> time_of(const std::function<void()>& give, int times) override;
  // Device::measure_copy; 0 when there is no memory for it.
  double measure_copy();
  LinkSpeed measure_link();

 private:
  // A command whose times are wanted.
  struct Noted {
    Activity::Kind kind;
    int tag;
    double bytes, copied;
    bool first;  // launch of its kernel
    cl_event event;
  };
  // Where the event of the next command goes: null when nobody wants it.
  cl_event* note(Activity::Kind kind, double bytes = 0, double copied = 0, bool first = false);
  void forget_notes();
  // Of a command that is done, seconds on the device's clock.
  static double profiled(cl_event event, cl_profiling_info what);
  // Between a plane and number `place` of those that lie behind each other on the device: its rows
  // from `begin` on, as many as the device's has; the device's from `first` on to its rows
  // [begin, end). Where the device does not reach the plane's memory, the transfer is waited for.
  void send(const Plane& plane, std::int64_t begin, const jit::PooledPlane& to, std::size_t place,
            bool reached);
  void fetch(const jit::PooledPlane& from, std::size_t place, std::int64_t first, Plane plane,
             std::int64_t begin, std::int64_t end, bool reached);
  std::unique_ptr<Queue> make_beside() override;
  void clear(std::uint64_t handle, std::int64_t bytes) override;
  std::uint64_t handle_at(std::uint64_t memory, std::int64_t offset) const override {
    return offset == 0 ? memory : 0;
  }
  std::int64_t part_alignment() const override { return part_alignment_; }
  std::shared_ptr<const std::uint64_t> part_of(std::uint64_t memory, std::int64_t offset,
                                               std::int64_t bytes) const override;
  void copy(const jit::PooledPlane& from, const jit::PooledPlane& to, std::int64_t first) override;
  jit::MemoryBlock filled(std::span<const std::span<const std::byte>> parts) override;
  cl_event mark();                      // a point in the lane's work
  double time_at(cl_event mark) const;  // seconds on the device's clock, when it is reached
  double clock();  // seconds on the device's clock, when the work given so far is done

  cl_context context_;
  cl_device_id device_;
  bool is_gpu_;
  std::int64_t part_alignment_;  // bytes
  cl_command_queue queue_ = nullptr;
  double start_ = 0;
  std::vector<Noted> noted_;
  std::optional<double> offset_;  // of the host's steady clock to the device's
};

}  // namespace impipe::opencl
