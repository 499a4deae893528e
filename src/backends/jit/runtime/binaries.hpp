// From kernel text to a device's binary: the disk cache's, or freshly compiled; counted, and
// written to a folder for people to read.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/jit/runtime/disk_cache.hpp"

namespace impipe::jit {

CompileCounts compile_counts();
// Counts from 0 again, and writes no texts any more.
void forget_counts();

// From now on every kernel's text is written to this folder, as a file named by the text's hash.
// Throws Error when the folder can't be made.
void dump_kernels_to(const std::filesystem::path& folder);

struct BinaryRequest {
  CacheKey key;
  std::string_view title;      // what the kernel does, one line
  std::string_view extension;  // of a dumped text: "cu" or "cl"
  std::string_view plan;       // comments that a dumped text begins with
};

// Gives a binary to `load`, which says whether the driver takes it. A binary of the cache that it
// refuses is compiled anew. `compile` throws Error (backend) when the text is wrong.
// Throws Error (backend) when a fresh binary is refused. Any thread.
void with_binary(const BinaryRequest& request,
                 const std::function<std::vector<std::byte>()>& compile,
                 const std::function<bool(std::span<const std::byte>)>& load);

}  // namespace impipe::jit
