// OpenCL devices as a backend: those of all platforms that the loader knows.
#pragma once

#include <memory>
#include <vector>

#include "core/backend.hpp"

namespace impipe::opencl {

// All devices; without a loader one entry that says what to install.
std::vector<DeviceInfo> devices();
std::unique_ptr<Device> open(int index, ThreadPool& pool);
KernelForms forms(int index);
// False when the loader's list of drivers has PoCL's at most, which work on the CPU.
bool may_have_gpu();

}  // namespace impipe::opencl
