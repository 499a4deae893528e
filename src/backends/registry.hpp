// The backends that were compiled in, the best first; a new one adds its line in registry.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "backends/jit/runtime/binaries.hpp"
#include "backends/jit/runtime/disk_cache.hpp"
#include "core/backend.hpp"

namespace impipe::backends {

std::span<const Backend> registry();
// Null when there is none of that name.
const Backend* find_backend(std::string_view name);

// What all GPU backends are told before a device is opened.
struct Settings {
  std::int64_t gpu_memory = 0;        // bytes of device memory to use at most; 0: what there is
  std::filesystem::path dump_folder;  // for the kernels' texts; empty: none are written
};
void configure(const Settings& settings);

// The cache of compiled kernels, where the engine keeps what it measured of devices too.
using jit::compile_counts;
using jit::disk_cache;

}  // namespace impipe::backends
