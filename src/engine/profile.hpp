// Where the time of a run went.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "engine/batch.hpp"
#include "engine/executor.hpp"
#include "engine/lanes.hpp"

namespace impipe::engine {

struct StepProfile {
  std::string name;    // the stages it carries out, as text
  std::string kernel;  // its primitives
  std::int64_t runs = 0;
  double seconds = 0;
  double bytes = 0;  // that must be read and written
  double floor = 0;  // seconds that moving those bytes takes at the device's copying speed
};

struct Profile {
  int threads = 1;
  std::int64_t files = 0;
  double start_up = 0;           // seconds before the batch, on one thread
  BatchTimes times;              // seconds of all threads together
  int compiled = 0, cached = 0;  // kernels of a GPU: made now, found in the cache
  double compile = 0;            // seconds that making these took, on threads of their own
  double kernel_wait = 0;        // part of compute: until a picture's kernels were made
  double transfer = 0;           // part of compute: host to device and back
  double copy_speed = 0;         // bytes a second, read plus written, all threads together
  std::int64_t peak_memory = 0;  // bytes of all planes at the same time
  std::int64_t estimated = 0;    // bytes that --memory counts for the largest picture
  std::vector<StepProfile> steps;
  std::vector<Lanes::Share> devices;

  // Seconds that each thread works, waiting for a device's results included; a run takes hardly
  // longer when decoding, transfers, kernels and encoding overlap.
  double thread_busy() const;

  // All thread seconds, and those that nothing above accounts for.
  double total() const { return start_up + threads * times.wall; }
  double unaccounted() const;
  // Of compute what is none of steps, transfer and waiting: memory that is taken, launches.
  double host() const;
};

// Adds up the steps of many images. Any thread.
class StepTimes {
 public:
  void add(const Program& program, const std::vector<std::string>& stages, const Outcome& outcome);
  std::vector<StepProfile> steps() const { return steps_; }
  double transfer() const { return transfer_; }
  double kernel_wait() const { return kernel_wait_; }

 private:
  std::mutex mutex_;
  std::map<std::string, size_t> place_;
  std::vector<StepProfile> steps_;
  double transfer_ = 0;
  double kernel_wait_ = 0;
};

// Bytes a second (read plus written) that `threads` threads copy together.
double measure_copy_speed(int threads);

}  // namespace impipe::engine
