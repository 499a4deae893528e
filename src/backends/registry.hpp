// The backends that were compiled in, the best first; a new one adds its line in registry.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.hpp"
#include "core/device_cache.hpp"
#include "core/exported_code.hpp"
#include "core/kernel_variant.hpp"

namespace impipe::backends {

std::span<const Backend> registry();
// Null when there is none of that name.
const Backend* find_backend(std::string_view name);

// What all GPU backends are told before a device is opened, by the only thread that is at work.
struct Settings {
  std::int64_t gpu_memory = 0;        // bytes of device memory to use at most; 0: what there is
  std::filesystem::path dump_folder;  // for the kernels' texts; empty: none are written
  std::int64_t max_files = 0;         // how many there are to do at most; 0: nobody knows
};
void configure(const Settings& settings);
// In a process that does several runs, after each: counts, the folder for texts, what was said.
void forget_run();
// The kernels of GPUs that are opened from now on.
void choose_variant(const KernelVariant& variant);

// The files of a pipeline's kernels for other programs; see core/exported_code.hpp.
std::vector<ExportedFile> export_code(const ExportRequest& request);

// --- what is kept on disk for the next run
CompileCounts compile_counts();
// IMPIPE_CACHE_DIR, XDG_CACHE_HOME/impipe or ~/.cache/impipe; empty when none of them is set.
std::filesystem::path cache_folder();
// Throws Error (file_failed) when the folder is none or can't be read.
std::vector<CacheEntry> list_cache(const std::filesystem::path& folder);
// Removes what is the cache's, and nothing else. Returns how many files that were. Throws likewise.
std::int64_t clear_cache(const std::filesystem::path& folder);
// Kernels that could not be kept.
int kernels_not_kept();
// What is wrong with the cache, since the last call, each said once.
std::vector<std::string> take_cache_warnings();
// What an earlier run, or this one, has found about a device. Any thread.
std::optional<std::string> known_verdict(const VerdictKey& key);
// title: what it is, for people; one line.
void keep_verdict(const VerdictKey& key, std::string_view verdict, std::string_view title);

}  // namespace impipe::backends
