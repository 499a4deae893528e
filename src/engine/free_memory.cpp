// Asks the system, and gives memory back to it.
#include "engine/free_memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace impipe::engine {

std::int64_t default_memory() {
  std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // In a container the control group's limit counts; "max" does not read as a number.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes / 2;
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
  // A trim takes about 0.1 ms.
  constexpr auto interval = std::chrono::milliseconds(50);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < interval) return;
  return_free_memory();
  last_ = now;
}

}  // namespace impipe::engine
