// Lists and opens CUDA devices.
#include "backends/cuda/device.hpp"

#include <array>
#include <cstdlib>
#include <fstream>

#include "backends/cuda/api.hpp"
#include "backends/cuda/kernel.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/queue.hpp"
#include "backends/jit/device.hpp"
#include "core/error.hpp"

namespace impipe::cuda {
namespace {

// Native double arithmetic and 48 KB of shared memory; NVRTC 13 compiles for 7.5 and later.
constexpr int min_capability = 50;

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

DeviceNumber device_number(int index) {
  DeviceNumber device = 0;
  check(driver().api.device_get(&device, index), "cuDeviceGet");
  return device;
}

int attribute_of(DeviceNumber device, int attribute) {
  int value = 0;
  check(driver().api.device_attribute(&value, attribute, device), "cuDeviceGetAttribute");
  return value;
}

int capability_of(DeviceNumber device) {
  return 10 * attribute_of(device, attribute_compute_major) +
         attribute_of(device, attribute_compute_minor);
}

jit::Tuning tuning_of(DeviceNumber device) {
  return jit::tuning_for("nvidia", jit::Dialect::cuda,
                         {.processors = attribute_of(device, attribute_multiprocessors),
                          .sub_group = attribute_of(device, attribute_warp_size),
                          .local_bytes = attribute_of(device, attribute_shared),
                          .max_local_bytes = attribute_of(device, attribute_max_shared)});
}

DeviceInfo describe(int index) {
  const DeviceNumber device = device_number(index);
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
  if (capability < min_capability) {
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

class CudaDevice final : public jit::GpuDevice {
 public:
  CudaDevice(int index, DeviceNumber device, ThreadPool& pool)
      : GpuDevice(describe(index), jit::Dialect::cuda, tuning_of(device)),
        pool_(pool),
        capability_(capability_of(device)),
        context_(std::make_shared<DeviceContext>(device)),
        memory_(make_pool(context_, info().id)),
        staging_(std::make_shared<StagingPool>(context_)),
        locks_(page_locks(context_)),
        use_of_locks_(locks_) {}
  std::unique_ptr<Queue> make_queue() override { return new_queue(); }
  std::shared_ptr<void> as_guest() override {
    Context before = nullptr;
    check(driver().api.context_get(&before), "cuCtxGetCurrent");
    return {nullptr, [before](void*) { driver().api.context_set(before); }};
  }
  void wait_for_all() override {
    context_->use();
    check(driver().api.context_wait(), "cuCtxSynchronize");
  }
  double measure_copy() override { return new_queue()->measure_copy(); }
  LinkSpeed measure_link() override { return new_queue()->measure_link(); }
  std::int64_t peak_memory() const override { return memory_->peak(); }

 private:
  std::unique_ptr<Kernel> compile(jit::Program program, const std::string& title) override {
    return std::make_unique<CudaKernel>(std::move(program), title, context_, capability_,
                                        info().driver);
  }
  std::unique_ptr<CudaQueue> new_queue() {
    return std::make_unique<CudaQueue>(context_, memory_, staging_, locks_, pool_);
  }

  ThreadPool& pool_;
  int capability_ = 0;
  std::shared_ptr<const DeviceContext> context_;
  std::shared_ptr<jit::MemoryPool> memory_;
  std::shared_ptr<StagingPool> staging_;
  std::shared_ptr<jit::PageLocks> locks_;
  jit::PageLocks::Use use_of_locks_;
};

}  // namespace

// The driver makes eight queues to the card, which takes a part of a context's time, and so does
// their end. What few files there are goes faster with one, any others with four
// (docs/decisions/0066-choosing-the-device-and-its-start.md). A user's own number stays.
void prepare_process(std::int64_t max_files) {
  constexpr std::int64_t few = 100;
  const bool are_few = max_files > 0 && max_files <= few;
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", are_few ? "1" : "4", 0);
}

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
  return std::make_unique<CudaDevice>(index, device_number(index), pool);
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
  const DeviceInfo& info = all[static_cast<std::size_t>(index)];
  return jit::kernel_forms(info.id + " (" + info.name + ")", jit::Dialect::cuda,
                           tuning_of(device_number(index)));
}

}  // namespace impipe::cuda
