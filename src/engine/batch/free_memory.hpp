// How much memory there is, and what a long run does so that it does not grow with the number of
// files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace impipe::engine {

// Half of the memory that this process may use.
std::int64_t default_memory();

// "12 MiB", "3 KiB", "5 bytes".
std::string memory_text(std::int64_t bytes);

// Buffers of files and results come and go on all threads. From a heap they would leave holes that
// grow over thousands of files; mapped on their own, each goes back to the system when it is freed.
void map_large_buffers();

// Gives back what the heaps of all threads hold without need.
void return_free_memory();

// Does that now and then: small buffers wander over the heaps too.
class FreeMemory {
 public:
  void look();

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

}  // namespace impipe::engine
