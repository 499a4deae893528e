// Asks the system, and gives memory back to it.
#include "engine/batch/free_memory.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "core/process_limits.hpp"

namespace impipe::engine {

std::int64_t default_memory() { return process_limits().memory / 2; }

std::string memory_text(std::int64_t bytes) {
  constexpr std::int64_t kibi = 1 << 10, mebi = 1 << 20;
  if (bytes < kibi) return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
  const bool is_large = bytes >= mebi;
  return fmt::format("{:.0f} {}", static_cast<double>(bytes) / (is_large ? mebi : kibi),
                     is_large ? "MiB" : "KiB");
}

void map_large_buffers() {
#ifdef __GLIBC__
  constexpr int large = 32 * 1024;
  mallopt(M_MMAP_THRESHOLD, large);
#endif
}

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void FreeMemory::look() {
  // A trim walks over all heaps: 0.1 ms with a few files, 0.1 s with a million of them. It may take
  // one twentieth of the time.
  constexpr std::chrono::steady_clock::duration interval = std::chrono::milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_) return;
  return_free_memory();
  const auto end = std::chrono::steady_clock::now();
  next_ = end + std::max(interval, 20 * (end - begin));
}

}  // namespace impipe::engine
