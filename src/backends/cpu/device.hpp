// The CPU as a backend: always there, and the reference for the others.
#pragma once

#include <memory>
#include <vector>

#include "core/backend.hpp"

namespace impipe::cpu {

std::vector<DeviceInfo> devices();
std::unique_ptr<Device> open(int index, ThreadPool& pool);
KernelForms forms(int index);
// The same at an instruction set other than the best.
std::unique_ptr<Device> open_at(CpuLevel level, ThreadPool& pool);

}  // namespace impipe::cpu
