// NVIDIA GPUs as a backend, through the driver alone.
#pragma once

#include <memory>
#include <vector>

#include "core/backend.hpp"

namespace impipe::cuda {

// Without a driver: one entry, not usable, that says so.
std::vector<DeviceInfo> devices();
std::unique_ptr<Device> open(int index, ThreadPool& pool);
KernelForms forms(int index);

}  // namespace impipe::cuda
