// OpenCL devices as a backend: those of all platforms that the loader knows.
#pragma once

#include <memory>
#include <vector>

#include "core/backend.hpp"

namespace impipe::opencl {

// All devices; without a loader one entry that says what to install.
std::vector<DeviceInfo> devices();
std::unique_ptr<Device> open(int index, ThreadPool& pool);

}  // namespace impipe::opencl
