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

// A kernel that would have to be compiled; see OnlyCached.
struct NotCached {};
// While there is one, this thread's kernels come from the disk cache: NotCached is thrown instead
// of compiling.
class OnlyCached {
 public:
  OnlyCached() { wanted_ = true; }
  ~OnlyCached() { wanted_ = false; }
  OnlyCached(const OnlyCached&) = delete;
  OnlyCached& operator=(const OnlyCached&) = delete;
  static bool is_wanted() { return wanted_; }

 private:
  static inline thread_local bool wanted_ = false;
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
