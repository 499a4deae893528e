// The list of backends: one line each.
#include "backends/registry.hpp"

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/jit/export/export.hpp"
#include "backends/jit/program/tuning.hpp"
#include "backends/jit/runtime/binaries.hpp"
#include "backends/jit/runtime/disk_cache.hpp"
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
  cuda::prepare_process(settings.max_files);
  jit::set_memory_cap(settings.gpu_memory);
  if (!settings.dump_folder.empty()) jit::dump_kernels_to(settings.dump_folder);
}

void forget_run() {
  jit::forget_counts();
  jit::disk_cache().forget_warnings();
}

void choose_variant(const KernelVariant& variant) { jit::set_variant(variant); }

std::vector<ExportedFile> export_code(const ExportRequest& request) {
  return jit::export_code(request);
}

CompileCounts compile_counts() { return jit::compile_counts(); }
std::filesystem::path cache_folder() { return jit::cache_folder(); }
std::vector<CacheEntry> list_cache(const std::filesystem::path& folder) {
  return jit::list_cache(folder);
}
std::int64_t clear_cache(const std::filesystem::path& folder) { return jit::clear_cache(folder); }
int kernels_not_kept() { return jit::disk_cache().not_kept(); }
std::vector<std::string> take_cache_warnings() { return jit::disk_cache().take_warnings(); }
std::optional<std::string> known_verdict(const VerdictKey& key) {
  return jit::disk_cache().load(key);
}
void keep_verdict(const VerdictKey& key, std::string_view verdict, std::string_view title) {
  jit::disk_cache().store(key, verdict, title);
}

}  // namespace impipe::backends
