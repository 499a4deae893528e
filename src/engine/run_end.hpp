// How a run ended.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "engine/batch/profile.hpp"
#include "engine/device/session.hpp"

namespace impipe::engine {

struct RunEnd {
  std::int64_t done = 0, skipped = 0, failed = 0;
  // Files of `stack`, which are done when their result is; 0: of another run. The result is
  // reported as one more.
  std::int64_t stacked = 0;
  bool result_failed = false;  // and none of them
  bool stopped = false;
  std::int64_t retries = 0;       // tries of files after the first ones
  std::int64_t frames = 0;        // of streams, that were done
  bool joined_unwritten = false;  // the one file of all results, since inputs failed
  bool nothing_found = false;     // arguments that matched nothing, and no other input
  std::int64_t clipped_values = 0, clipped_files = 0;
  std::vector<DeviceInfo> devices;  // that computed
  std::optional<Profile> profile;
  double measuring = 0;  // seconds that a profile's limits took, after the run
  std::optional<Error>
      error;  // why a watch ended before its time, or what came to light at the end
};

}  // namespace impipe::engine
