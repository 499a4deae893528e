// Cache look-up, compilation, counting and dumping of kernels.
#include "backends/jit/runtime/binaries.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>

#include "core/error.hpp"

namespace impipe::jit {
namespace {

namespace fs = std::filesystem;

// Counts and the dump folder, shared by all devices of the process.
struct Shared {
  std::mutex mutex;
  CompileCounts counts;
  fs::path dump_folder;
};
Shared& shared() {
  static Shared one;
  return one;
}

void dump(const BinaryRequest& request) {
  fs::path folder;
  {
    std::lock_guard lock(shared().mutex);
    folder = shared().dump_folder;
  }
  if (folder.empty()) return;
  char name[24];
  std::snprintf(name, sizeof name, "%016zx", std::hash<std::string>()(request.key.source));
  const fs::path path = folder / (std::string(name) + "." + std::string(request.extension));
  std::ofstream file(path, std::ios::binary);
  if (!request.plan.empty()) file << "// The plan of this kernel:\n" << request.plan;
  file << request.key.source;
  if (!file.flush()) {
    throw Error("--dump-kernels: " + path.string() + " can't be written", ExitCode::usage);
  }
}

}  // namespace

CompileCounts compile_counts() {
  std::lock_guard lock(shared().mutex);
  return shared().counts;
}

void forget_counts() {
  std::lock_guard lock(shared().mutex);
  shared().counts = {};
  shared().dump_folder.clear();
}

void dump_kernels_to(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("--dump-kernels: " + folder.string() + ": " + error.message());
  std::lock_guard lock(shared().mutex);
  shared().dump_folder = folder;
}

void with_binary(const BinaryRequest& request,
                 const std::function<std::vector<std::byte>()>& compile,
                 const std::function<bool(std::span<const std::byte>)>& load) {
  const auto start = std::chrono::steady_clock::now();
  dump(request);
  const auto known = disk_cache().load(request.key);
  const bool cached = known && load(*known);
  if (!cached) {
    if (OnlyCached::is_wanted()) throw NotCached();
    const std::vector<std::byte> made = compile();
    if (!load(made)) {
      throw Error(
          request.key.device + ": the driver refuses the kernel of " + std::string(request.title),
          ExitCode::backend);
    }
    if (!made.empty()) disk_cache().store(request.key, made, request.title);
  }
  const auto end = std::chrono::steady_clock::now();
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  constexpr std::size_t max_intervals = 4096;
  std::lock_guard lock(shared().mutex);
  if (shared().counts.intervals.size() < max_intervals) {
    shared().counts.intervals.emplace_back(seconds(start.time_since_epoch()),
                                           seconds(end.time_since_epoch()));
  }
  ++(cached ? shared().counts.cached : shared().counts.compiled);
  shared().counts.seconds += seconds(end - start);
}

}  // namespace impipe::jit
