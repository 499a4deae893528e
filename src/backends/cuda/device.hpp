// NVIDIA GPUs as a backend, through the driver alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend.hpp"

namespace impipe::cuda {

// What the driver is to know before it is opened: how much it is opened for, see Settings.
void prepare_process(std::int64_t max_files);
// Without a driver: one entry, not usable, that says so.
std::vector<DeviceInfo> devices();
std::unique_ptr<Device> open(int index, ThreadPool& pool);
KernelForms forms(int index);

}  // namespace impipe::cuda
