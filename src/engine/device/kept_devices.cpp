#include "engine/device/kept_devices.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/registry.hpp"
#include "core/process_limits.hpp"
#include "core/text_file.hpp"
#include "engine/device/parity.hpp"

namespace impipe::engine {
namespace {

struct KeptDevice {
  std::shared_ptr<Device> device;
  std::optional<std::string> verdict;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels;
};

struct Kept {
  std::mutex mutex;
  ThreadPool pool{0};
  std::map<std::pair<std::string, int>, KeptDevice> devices;  // by backend and index
  bool use = true;

  // Null for one that is not kept.
  KeptDevice* find(const Device& device) {
    for (auto& [place, kept] : devices) {
      if (kept.device.get() == &device) return &kept;
    }
    return nullptr;
  }
};

Kept* kept = nullptr;  // never destroyed: drivers may be gone before static destructors

}  // namespace

void keep_devices() { kept = new Kept; }
bool keeps_devices() noexcept { return kept != nullptr; }

void use_kept_devices(bool use) {
  if (kept == nullptr) return;
  std::lock_guard lock(kept->mutex);
  kept->use = use;
}

ThreadPool& pool_of_run(ThreadPool& own) { return kept != nullptr ? kept->pool : own; }

std::shared_ptr<Device> opened(const Backend& backend, int index, ThreadPool& pool) {
  if (kept == nullptr || backend.name == std::string_view("cpu")) return backend.open(index, pool);
  std::lock_guard lock(kept->mutex);
  if (!kept->use) return backend.open(index, pool);
  KeptDevice& one = kept->devices[{backend.name, index}];
  if (one.device == nullptr) one.device = backend.open(index, kept->pool);
  return one.device;
}

std::string verdict_on(Device& device, ThreadPool& pool) {
  if (kept == nullptr) return parity_failure(device, pool);
  std::lock_guard lock(kept->mutex);
  KeptDevice* one = kept->find(device);
  if (one == nullptr) return parity_failure(device, pool);
  if (!one->verdict) one->verdict = parity_failure(device, pool);
  return *one->verdict;
}

bool has_kept_gpu() {
  if (kept == nullptr) return false;
  std::lock_guard lock(kept->mutex);
  for (const auto& [place, one] : kept->devices) {
    if (kept->use && one.device != nullptr && one.device->info().is_gpu) return true;
  }
  return false;
}

std::shared_ptr<const Kernel> kept_kernel(const Device& device, const std::string& name,
                                          const MakeKernel& make) {
  constexpr std::size_t most = 256;
  if (kept == nullptr) return make();
  {
    std::lock_guard lock(kept->mutex);
    KeptDevice* one = kept->find(device);
    if (one != nullptr && one->kernels.contains(name)) return one->kernels.at(name);
  }
  std::shared_ptr<const Kernel> made = make();
  std::lock_guard lock(kept->mutex);
  if (KeptDevice* one = kept->find(device)) {
    if (one->kernels.size() >= most) one->kernels.clear();  // those in use have other owners
    one->kernels.emplace(name, made);
  }
  return made;
}

void tidy_up_after_run() {
  // So much stays warm.
  constexpr int part_of_host = 16, part_of_device = 8;
  if (plane_memory().peak > process_limits().memory / part_of_host) release_plane_memory();
  backends::forget_run();
  forget_pipes();
  std::lock_guard lock(kept->mutex);
  std::erase_if(kept->devices, [](const auto& place_and_one) {
    const KeptDevice& one = place_and_one.second;
    return one.device == nullptr ||
           one.device->peak_memory() > one.device->info().memory / part_of_device;
  });
}

bool kept_devices_work() noexcept {
  try {
    std::lock_guard lock(kept->mutex);
    for (const auto& [place, one] : kept->devices) one.device->make_queue()->wait();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace impipe::engine
