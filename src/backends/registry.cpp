// The list of backends: one line each.
#include "backends/registry.hpp"

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/jit/runtime/memory_pool.hpp"
#include "backends/opencl/device.hpp"

namespace impipe::backends {
namespace {

constexpr Backend all[] = {
    {"cpu", cpu::devices, cpu::open, cpu::forms, [] { return false; }},
    {"cuda", cuda::devices, cuda::open, cuda::forms, [] { return true; }},
    {"opencl", opencl::devices, opencl::open, opencl::forms, opencl::may_have_gpu},
};

}  // namespace

std::span<const Backend> registry() { return all; }

const Backend* find_backend(std::string_view name) {
  for (const Backend& backend : all) {
    if (backend.name == name) return &backend;
  }
  return nullptr;
}

void configure(const Settings& settings) {
  jit::set_memory_cap(settings.gpu_memory);
  if (!settings.dump_folder.empty()) jit::dump_kernels_to(settings.dump_folder);
}

}  // namespace impipe::backends
