// Lists and opens CUDA devices.
#include "backends/cuda/device.hpp"

#include <array>
#include <fstream>

#include "backends/cuda/api.hpp"
#include "backends/cuda/kernel.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/queue.hpp"
#include "backends/jit/kernel_plan.hpp"
#include "backends/jit/yardstick.hpp"
#include "core/error.hpp"

namespace impipe::cuda {
namespace {

// Native double arithmetic and 48 KB of shared memory; NVRTC 13 compiles for 7.5 and later.
constexpr int least_capability = 50;

// "580.159.04", as nvidia-smi shows it, else the version of CUDA that the driver knows.
std::string driver_version() {
  std::string text;
  if (std::ifstream("/sys/module/nvidia/version") >> text) return text;
  std::ifstream file("/proc/driver/nvidia/version");
  while (file >> text) {
    // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  …"
    if (text.find('.') != std::string::npos && text[0] >= '0' && text[0] <= '9') return text;
  }
  int version = 0;
  check(driver().api.driver_version(&version), "cuDriverGetVersion");
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int capability_of(DeviceNumber device) {
  int major = 0, minor = 0;
  check(driver().api.device_attribute(&major, attribute_compute_major, device),
        "cuDeviceGetAttribute");
  check(driver().api.device_attribute(&minor, attribute_compute_minor, device),
        "cuDeviceGetAttribute");
  return 10 * major + minor;
}

jit::Tuning tuning_of(DeviceNumber device) {
  jit::Tuning tuning = jit::tuning_for("nvidia", jit::Dialect::cuda);
  int most = 0;
  check(driver().api.device_attribute(&most, attribute_most_shared, device),
        "cuDeviceGetAttribute");
  tuning.most_local_bytes = std::min<std::int64_t>(tuning.most_local_bytes, most);
  return tuning;
}

DeviceInfo describe(int index) {
  DeviceNumber device = 0;
  check(driver().api.device_get(&device, index), "cuDeviceGet");
  DeviceInfo info;
  info.is_gpu = true;
  info.id = "cuda:" + std::to_string(index);
  std::array<char, 256> name{};
  check(driver().api.device_name(name.data(), static_cast<int>(name.size()), device),
        "cuDeviceGetName");
  info.name = name.data();
  info.driver = "driver " + driver_version();
  std::size_t memory = 0;
  check(driver().api.device_memory(&memory, device), "cuDeviceTotalMem");
  info.memory = static_cast<std::int64_t>(memory);
  const int capability = capability_of(device);
  if (capability < least_capability) {
    info.usable = false;
    info.why_not = "its compute capability is " + std::to_string(capability / 10) + "." +
                   std::to_string(capability % 10) + ", and 5.0 is needed";
  }
  return info;
}

std::vector<DeviceInfo> unusable(const std::string& why) {
  DeviceInfo info;
  info.id = "cuda:0";
  info.name = "NVIDIA GPU";
  info.usable = false;
  info.why_not = why;
  return {info};
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, ThreadPool& pool) : info_(describe(index)), pool_(pool) {
    DeviceNumber device = 0;
    check(driver().api.device_get(&device, index), "cuDeviceGet");
    capability_ = capability_of(device);
    tuning_ = tuning_of(device);
    context_ = std::make_shared<DeviceContext>(device);
    memory_ = make_pool(context_, info_.id);
    staging_ = std::make_shared<StagingPool>(context_);
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Kernel> prepare(const KernelSpec& spec) override {
    if (spec.planes > 1) return prepare_stacked(spec);
    return load(jit::generate(spec, jit::Dialect::cuda, tuning_), spec.key());
  }
  std::unique_ptr<Kernel> prepare_stacked(const KernelSpec& spec) override {
    jit::Tuning stacked = tuning_;
    stacked.stacked = true;
    return load(jit::generate(spec, jit::Dialect::cuda, stacked), "stacked " + spec.key());
  }
  int most_stacked() const override { return jit::most_stacked; }
  std::unique_ptr<Kernel> prepare_yardstick(Yardstick yardstick) override {
    return load(jit::yardstick(yardstick, jit::Dialect::cuda), "yardstick");
  }
  std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CudaQueue>(context_, memory_, staging_, pool_);
  }
  double measure_copy() override {
    return CudaQueue(context_, memory_, staging_, pool_).measure_copy();
  }
  LinkSpeed measure_link() override {
    return CudaQueue(context_, memory_, staging_, pool_).measure_link();
  }
  std::int64_t peak_memory() const override { return memory_->peak(); }

 private:
  std::unique_ptr<Kernel> load(jit::Program program, const std::string& title) const {
    return std::make_unique<CudaKernel>(std::move(program), title, context_, capability_,
                                        info_.driver);
  }

  DeviceInfo info_;
  ThreadPool& pool_;
  int capability_ = 0;
  jit::Tuning tuning_;
  std::shared_ptr<const DeviceContext> context_;
  std::shared_ptr<jit::MemoryPool> memory_;
  std::shared_ptr<StagingPool> staging_;
};

}  // namespace

std::vector<DeviceInfo> devices() {
  if (!driver().found) return unusable(driver().why_not);
  static const Result started = driver().api.init(0);
  if (started != 0) {
    const char* text = nullptr;
    driver().api.error_text(started, &text);
    return unusable("the driver finds no GPU that it can use: " +
                    std::string(text != nullptr ? text : "unknown error"));
  }
  int count = 0;
  check(driver().api.device_count(&count), "cuDeviceGetCount");
  std::vector<DeviceInfo> all;
  for (int i = 0; i < count; ++i) all.push_back(describe(i));
  return all;
}

std::unique_ptr<Device> open(int index, ThreadPool& pool) {
  return std::make_unique<CudaDevice>(index, pool);
}

KernelForms forms(int index) {
  const std::vector<DeviceInfo> all = devices();
  if (!all.front().usable && all.size() == 1) {
    return jit::kernel_forms("cuda: no device is here; by the numbers for NVIDIA's",
                             jit::Dialect::cuda, jit::tuning_for("nvidia", jit::Dialect::cuda));
  }
  if (index < 0 || static_cast<std::size_t>(index) >= all.size()) {
    throw Error("there is no device cuda:" + std::to_string(index), ExitCode::backend);
  }
  DeviceNumber device = 0;
  check(driver().api.device_get(&device, index), "cuDeviceGet");
  const DeviceInfo& info = all[static_cast<std::size_t>(index)];
  return jit::kernel_forms(info.id + " (" + info.name + ")", jit::Dialect::cuda, tuning_of(device));
}

}  // namespace impipe::cuda
