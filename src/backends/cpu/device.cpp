// The CPU as a backend: device memory is host memory, so planes are shared and never copied.
#include "backends/cpu/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/node_forms.hpp"
#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/step.hpp"

namespace impipe::cpu {
namespace {

// Pixels in host memory, a plane a channel.
class CpuPlane final : public DevicePlane {
 public:
  explicit CpuPlane(Planes channels) : planes(std::move(channels)) {}
  PixelClass cls() const override { return planes.front().cls(); }
  int channels() const override { return static_cast<int>(planes.size()); }
  Size size() const override { return planes.front().size(); }
  Planes planes;
};

class CpuMeasure final : public DeviceMeasure {
 public:
  CpuMeasure(int channels, std::int64_t values)
      : numbers(static_cast<std::size_t>(channels) * values),
        channels_(channels),
        values_(values) {}
  int channels() const override { return channels_; }
  std::int64_t values() const override { return values_; }
  std::vector<double> numbers;

 private:
  int channels_;
  std::int64_t values_;
};

// Everything a launch needs is in its spec; a kernel is the promise that it was checked.
class CpuKernel final : public Kernel {
 public:
  explicit CpuKernel(std::optional<Baseline> of = {}) : baseline(of) {}
  std::optional<Baseline> baseline;
};

// Some rows of a plane at a time, spread over the threads.
void run_baseline(Baseline baseline, const std::vector<Plane>& from, const StepValue& to,
                  ThreadPool& pool) {
  constexpr std::int64_t bytes_a_task = std::int64_t{1} << 20;
  const std::int64_t height = from.front().size().height, stride = from.front().stride();
  const std::int64_t rows = std::max<std::int64_t>(1, bytes_a_task / stride);
  const std::int64_t tasks = (height + rows - 1) / rows;
  std::atomic<std::uint64_t> all = 0;
  pool.for_each(tasks * static_cast<std::int64_t>(from.size()), [&](std::int64_t task) {
    const auto plane = static_cast<std::size_t>(task / tasks);
    const std::int64_t y = task % tasks * rows;
    const auto bytes = static_cast<std::size_t>(std::min(rows, height - y) * stride);
    if (baseline == Baseline::copy) {
      std::memcpy((*to.planes)[plane].row(y), from[plane].row(y), bytes);
      return;
    }
    std::uint64_t mixed = 0;
    const auto* words = reinterpret_cast<const std::uint64_t*>(from[plane].row(y));
    for (std::size_t i = 0; i < bytes / sizeof *words; ++i) mixed ^= words[i];
    all.fetch_xor(mixed);
  });
  if (to.measure != nullptr) to.measure->front() = static_cast<double>(all.load());
}

StepValue step_value(const DeviceValue& value) {
  StepValue out;
  if (value.plane) out.planes = &static_cast<CpuPlane&>(*value.plane).planes;
  if (value.measure) out.measure = &static_cast<CpuMeasure&>(*value.measure).numbers;
  return out;
}

class CpuQueue final : public Queue {
 public:
  CpuQueue(ThreadPool& pool, ScratchPool& scratches, CpuLevel level)
      : pool_(pool), scratches_(scratches), level_(level) {}

  std::shared_ptr<DevicePlane> upload(const Planes& image) override {
    return std::make_shared<CpuPlane>(image);
  }
  Planes download(const DevicePlane& image) override {
    return static_cast<const CpuPlane&>(image).planes;
  }
  std::shared_ptr<DevicePlane> allocate(PixelClass cls, int channels, Size size) override {
    return std::make_shared<CpuPlane>(new_planes(cls, channels, size));
  }
  std::shared_ptr<DeviceMeasure> allocate_measure(int channels, std::int64_t values) override {
    return std::make_shared<CpuMeasure>(channels, values);
  }
  std::vector<double> download(const DeviceMeasure& measure) override {
    return static_cast<const CpuMeasure&>(measure).numbers;
  }

  std::shared_ptr<DeviceMeasure> upload_measure(std::span<const double> numbers, int channels,
                                                int) override {
    const auto values = std::ssize(numbers) / channels;
    const auto made = std::make_shared<CpuMeasure>(channels, values);
    std::ranges::copy(numbers, made->numbers.begin());
    return made;
  }

  void run(const Kernel& kernel, const Launch& launch) override {
    ++launches_;
    const double begin = noting_ ? steady_seconds() : 0;
    give(kernel, launch);
    if (noting_) notes_.push_back({.tag = tag_, .begin = begin, .end = steady_seconds()});
  }

  void wait() override {}  // run returns when the work is done

  double time() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  void give(const Kernel& kernel, const Launch& launch) {
    std::vector<StepValue> inputs, outputs;
    for (const DeviceValue& value : launch.inputs) inputs.push_back(step_value(value));
    for (const DeviceValue& value : launch.outputs) outputs.push_back(step_value(value));
    if (const auto baseline = static_cast<const CpuKernel&>(kernel).baseline) {
      return run_baseline(*baseline, *inputs.front().planes, outputs.front(), pool_);
    }
    run_step(*launch.spec, inputs, outputs, pool_, scratches_, level_);
  }

  ThreadPool& pool_;
  ScratchPool& scratches_;
  CpuLevel level_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

DeviceInfo describe(CpuLevel level) {
  DeviceInfo info;
  info.id = "cpu";
  info.name = processor_name();
  info.driver = std::string("instruction set ") + name_of(level);
  info.memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return info;
}

class CpuDevice final : public Device {
 public:
  CpuDevice(CpuLevel level, ThreadPool& pool)
      : info_(describe(level)), pool_(pool), level_(level) {}
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Kernel> prepare(const KernelSpec& spec) override {
    check_runnable(spec);
    return std::make_unique<CpuKernel>();
  }
  std::unique_ptr<Kernel> prepare_baseline(Baseline baseline) override {
    return std::make_unique<CpuKernel>(baseline);
  }
  std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CpuQueue>(pool_, scratches_, level_);
  }

 private:
  DeviceInfo info_;
  ThreadPool& pool_;
  CpuLevel level_;
  ScratchPool scratches_;
};

}  // namespace

std::vector<DeviceInfo> devices() { return {describe(cpu_level())}; }

std::unique_ptr<Device> open(int, ThreadPool& pool) { return open_at(cpu_level(), pool); }

KernelForms forms(int) {
  const DeviceInfo info = describe(cpu_level());
  return {info.id + " (" + info.name + ", " + info.driver + ")", true, node_forms};
}

std::unique_ptr<Device> open_at(CpuLevel level, ThreadPool& pool) {
  return std::make_unique<CpuDevice>(level, pool);
}

}  // namespace impipe::cpu
