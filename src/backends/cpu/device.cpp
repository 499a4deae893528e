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

#include "backends/cpu/level.hpp"
#include "backends/cpu/step.hpp"
#include "core/interleave.hpp"
#include "core/plane_kernel.hpp"

namespace impipe::cpu {
namespace {

class CpuPlane final : public DevicePlane {
 public:
  explicit CpuPlane(std::vector<Plane> channels) : planes(std::move(channels)) {}
  PixelClass cls() const override { return planes.front().cls(); }
  int channels() const override { return static_cast<int>(planes.size()); }
  Size size() const override { return planes.front().size(); }
  std::vector<Plane> planes;  // one a channel
};

std::vector<Plane> new_planes(PixelClass cls, int channels, Size size) {
  std::vector<Plane> planes;
  for (int c = 0; c < channels; ++c) planes.emplace_back(cls, 1, size);
  return planes;
}

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
  explicit CpuKernel(std::optional<Yardstick> of = {}) : yardstick(of) {}
  std::optional<Yardstick> yardstick;
};

// Some rows of a plane at a time, spread over the threads.
void run_yardstick(Yardstick yardstick, const Plane& from, const StepValue& to, ThreadPool& pool) {
  constexpr std::int64_t bytes_a_task = std::int64_t{1} << 20;
  const std::int64_t height = from.size().height;
  const std::int64_t rows = std::max<std::int64_t>(1, bytes_a_task / from.stride());
  std::atomic<std::uint64_t> all = 0;
  pool.for_each((height + rows - 1) / rows, [&](std::int64_t task) {
    const std::int64_t y = task * rows;
    const auto bytes = static_cast<std::size_t>(std::min(rows, height - y) * from.stride());
    if (yardstick == Yardstick::copy) {
      std::memcpy(to.plane->row(y), from.row(y), bytes);
      return;
    }
    std::uint64_t mixed = 0;
    const auto* words = reinterpret_cast<const std::uint64_t*>(from.row(y));
    for (std::size_t i = 0; i < bytes / sizeof *words; ++i) mixed ^= words[i];
    all.fetch_xor(mixed);
  });
  if (to.measure != nullptr) to.measure->front() = static_cast<double>(all.load());
}

// What a launch reads and writes for one of its planes. Numbers of a channel are a part of their
// measurement.
class PlaneValues {
 public:
  PlaneValues(const KernelSpec& spec, const Launch& launch, int item) {
    numbers_.reserve(launch.inputs.size() + launch.outputs.size());
    for (std::size_t i = 0; i < launch.inputs.size(); ++i) {
      inputs.push_back(
          value(launch.inputs[i], spec.inputs[i].channel, spec.inputs[i].channels, spec, item));
    }
    for (std::size_t i = 0; i < launch.outputs.size(); ++i) {
      const int channel = spec.output_channels.empty() ? own_channel : spec.output_channels[i];
      outputs.push_back(value(launch.outputs[i], channel, 1, spec, item));
    }
  }
  // Puts the measurements that were made where they belong.
  void store() {
    for (const Part& part : numbers_) {
      std::copy(part.numbers.begin(), part.numbers.end(), part.place);
    }
  }
  std::vector<StepValue> inputs, outputs;

 private:
  struct Part {
    std::vector<double> numbers;
    double* place;
  };
  StepValue value(const DeviceValue& of, int channel, int whole, const KernelSpec& spec, int item) {
    StepValue out;
    const int channels = of.plane ? of.plane->channels() : of.measure->channels();
    const auto plane = static_cast<std::size_t>(plane_of(channel, item, channels, spec.planes));
    if (of.plane) {
      out.plane = &static_cast<CpuPlane&>(*of.plane).planes[plane];
      return out;
    }
    double* first = static_cast<CpuMeasure&>(*of.measure).numbers.data() +
                    plane * static_cast<std::size_t>(of.measure->values());
    numbers_.push_back({{first, first + whole * of.measure->values()}, first});
    out.measure = &numbers_.back().numbers;
    return out;
  }
  std::vector<Part> numbers_;
};

class CpuQueue final : public Queue {
 public:
  CpuQueue(ThreadPool& pool, ScratchPool& scratches, CpuLevel level)
      : pool_(pool), scratches_(scratches), level_(level) {}

  std::shared_ptr<DevicePlane> upload(const Plane& plane) override {
    if (plane.channels() == 1) return std::make_shared<CpuPlane>(std::vector<Plane>{plane});
    auto split =
        std::make_shared<CpuPlane>(new_planes(plane.cls(), plane.channels(), plane.size()));
    for_rows(plane.size(), [&](std::int64_t y) {
      for (int c = 0; c < plane.channels(); ++c) {
        take_channel(plane.row(y), plane.channels(), c, bytes_of(plane.cls()), plane.size().width,
                     split->planes[static_cast<std::size_t>(c)].row(y));
      }
    });
    return split;
  }
  Plane download(const DevicePlane& plane) override {
    const std::vector<Plane>& planes = static_cast<const CpuPlane&>(plane).planes;
    if (planes.size() == 1) return planes.front();
    Plane joined(plane.cls(), plane.channels(), plane.size());
    for_rows(plane.size(), [&](std::int64_t y) {
      for (int c = 0; c < plane.channels(); ++c) {
        put_channel(planes[static_cast<std::size_t>(c)].row(y), plane.channels(), c,
                    bytes_of(plane.cls()), plane.size().width, joined.row(y));
      }
    });
    return joined;
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

  void run(const Kernel& kernel, const Launch& launch) override {
    ++launches_;
    if (const auto yardstick = static_cast<const CpuKernel&>(kernel).yardstick) {
      const KernelSpec each{.inputs = std::vector<KernelInput>(1),
                            .planes = launch.inputs.front().plane->channels()};
      for (int item = 0; item < each.planes; ++item) {
        PlaneValues values(each, launch, launch.outputs.front().plane ? item : 0);
        const Plane& from = static_cast<CpuPlane&>(*launch.inputs.front().plane)
                                .planes[static_cast<std::size_t>(item)];
        run_yardstick(*yardstick, from, values.outputs.front(), pool_);
        values.store();
      }
      return;
    }
    for (int item = 0; item < launch.spec->planes; ++item) {
      PlaneValues values(*launch.spec, launch, item);
      run_step(*launch.spec, values.inputs, values.outputs, pool_, scratches_, level_);
      values.store();
    }
  }

  void wait() override {}  // run returns when the work is done

  double time() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  // Calls work(y) for each row of an image, some rows a task.
  template <class Work>
  void for_rows(Size size, Work work) {
    constexpr std::int64_t rows = 64;
    pool_.for_each((size.height + rows - 1) / rows, [&](std::int64_t task) {
      const std::int64_t end = std::min(size.height, (task + 1) * rows);
      for (std::int64_t y = task * rows; y < end; ++y) work(y);
    });
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
  std::unique_ptr<Kernel> prepare_yardstick(Yardstick yardstick) override {
    return std::make_unique<CpuKernel>(yardstick);
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

std::unique_ptr<Device> open_at(CpuLevel level, ThreadPool& pool) {
  return std::make_unique<CpuDevice>(level, pool);
}

}  // namespace impipe::cpu
