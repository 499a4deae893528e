// One lane of work on an OpenCL device.
#pragma once

#include <memory>

#include "backends/jit/runtime/queue.hpp"
#include "backends/opencl/compile.hpp"
#include "backends/opencl/memory.hpp"

namespace impipe::opencl {

class OpenClQueue final : public jit::GpuQueue {
 public:
  OpenClQueue(cl_context context, cl_device_id device, bool is_gpu,
              std::shared_ptr<jit::MemoryPool> memory);
  ~OpenClQueue() override;

  std::shared_ptr<DevicePlane> upload_stack(std::span<const Planes> images) override;
  std::vector<Planes> download_stack(const DevicePlane& images) override;
  std::vector<double> download(const DeviceMeasure& measure) override;
  using GpuQueue::download;
  void run(const Kernel& kernel, const Launch& launch) override;
  double timed_run(const Kernel& kernel, const Launch& launch) override;
  void wait() override;
  double time() override;
  // GPUs: all of it is queued while the device is kept busy.
  std::vector<double> time_of(const std::function<void()>& give, int times) override;
  // Device::measure_copy; 0 when there is no memory for it.
  double measure_copy();

 private:
  // before: marked when nothing but the kernels is left to launch; or null.
  void launch(const Kernel& kernel, const Launch& launch, cl_event* before);
  void clear(std::uint64_t handle, std::int64_t bytes) override;
  std::uint64_t filled(std::span<const std::byte> contents,
                       std::vector<jit::Block>& blocks) override;
  cl_event mark();                      // a point in the lane's work
  double time_at(cl_event mark) const;  // seconds on the device's clock, when it is reached
  double clock();  // seconds on the device's clock, when the work given so far is done

  cl_context context_;
  bool is_gpu_;
  std::vector<Memory> constants_;  // of the launch that is being given
  cl_command_queue queue_ = nullptr;
  double start_ = 0;
};

}  // namespace impipe::opencl
