// Asks the system, and gives memory back to it.
#include "engine/free_memory.hpp"

#include <malloc.h>

#include "core/process_limits.hpp"

namespace impipe::engine {

std::int64_t default_memory() { return process_limits().memory / 2; }

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
