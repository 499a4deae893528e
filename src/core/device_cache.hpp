// What backends keep on disk for the next run: compiled kernels, and verdicts on devices.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace impipe {

// Kernels of this process so far.
struct CompileCounts {
  int compiled = 0;
  int cached = 0;
  double seconds = 0;  // that compiling and loading took, all threads together
  // When, on the steady clock; the first thousands.
  std::vector<std::pair<double, double>> intervals;
};

// What a question about a device is answered for: its answer is one for all runs.
struct VerdictKey {
  std::string question;  // with whatever decides the answer
  std::string device;
  std::string driver;
};

// A file of the cache.
struct CacheEntry {
  std::filesystem::path file;
  std::int64_t bytes = 0;
  std::string title;  // empty for a file that is not ours or is damaged
};

}  // namespace impipe
