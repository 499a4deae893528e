// What a device reaches at best here: the limits that a profile names.
#pragma once

#include <string>

#include "core/backend.hpp"

namespace impipe::engine {

struct DeviceSpeed {
  double copy = 0;        // bytes a second, read plus written, of buffers beyond all caches
  LinkSpeed link;         // between its memory and the host's; 0 where they are one
  std::string date;       // when it was measured, UTC
  bool measured = false;  // now, not found in the cache
};

// Measured at most once a device, driver and number of threads, and kept in the cache of compiled
// kernels. threads: that copy together on the CPU.
DeviceSpeed speed_of(Device& device, int threads);

// Bytes a second (read plus written) that `threads` threads copy together.
double measure_copy_speed(int threads);

// "2026-11-23T06:31:00Z"
std::string utc_now();

}  // namespace impipe::engine
