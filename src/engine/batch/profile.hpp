// Where the time of a run went.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "engine/batch/batch.hpp"
#include "engine/batch/timeline.hpp"
#include "engine/device/lanes.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {

struct StepProfile {
  std::string name;           // the stages it carries out, as text
  std::string kernel;         // its primitives
  std::string apart;          // why it is a step of its own; may be empty
  std::int64_t runs = 0;      // images
  std::int64_t launches = 0;  // kernels
  double seconds = 0;         // of its device; kernels that run at once share the time
  double bytes = 0;           // that must be read and written
  double floor = 0;           // seconds that moving those bytes takes at the speed of a large copy
};

struct DeviceProfile {
  DeviceInfo info;
  std::int64_t images = 0;
  std::int64_t peak_memory = 0;  // bytes; 0: it is the host's
  DeviceSpeed speed;             // 0 for a CPU that only did what others had no memory for
  TimeSums::OfDevice times;
};

struct Profile {
  std::string pipeline;
  std::string plan;  // of the first image's kind, as `impipe plan` shows it
  bool fused = true;
  std::vector<std::string> inputs;  // as they were given
  std::string output;
  int threads = 1;
  std::int64_t files = 0, failed = 0, skipped = 0;
  // Of the first image that was planned.
  ImageType type;
  Size size;

  double wall = 0;               // seconds from the program's start to the end of the last file
  double start_up = 0;           // of them before the first file, on one thread
  BatchTimes times;              // seconds of all threads together
  TimeSums sums;                 // by what went on
  int compiled = 0, cached = 0;  // kernels of a GPU: made now, found in the cache
  double compile = 0;            // seconds that making these took, on threads of their own
  double uploaded = 0, downloaded = 0;  // bytes
  // Of these, bytes that were copied on the host, to memory that the device reads and from what it
  // writes.
  double copied_up = 0, copied_down = 0;
  std::int64_t peak_memory = 0;   // bytes of all planes at the same time
  std::int64_t process_peak = 0;  // bytes of the process that were in memory at most
  std::int64_t estimated = 0;     // bytes that --memory counts for the largest picture
  std::vector<StepProfile> steps;
  std::vector<DeviceProfile> devices;

  // What went on when, as far as it was asked for, and the files' names.
  std::vector<Slice> slices;
  bool slices_cut = false;  // there was more
  std::vector<std::string> names;

  // All thread seconds, and those that nothing above accounts for.
  double total() const { return start_up + threads * times.wall; }
  double thread_unaccounted() const;

  // Wall-clock seconds in which kinds of work overlapped, and those in which none was recorded.
  double overlap() const { return sums.all - sums.covered; }
  double unaccounted() const { return wall - sums.covered; }

  // The share of the batch's time in which threads worked themselves, and not for a device.
  double threads_working() const;
  bool on_gpu() const;  // the first device is none of the host's
};

// Adds up the steps of many images. Any thread.
class StepTimes {
 public:
  // Places among all steps.
  struct Places {
    std::vector<int> program;          // of the program's steps
    int decoding = -1, encoding = -1;  // of JPEGs on the device; -1: they were not
    // Of work with this tag; -1 where it is no step's.
    int of(int tag) const;
  };
  Places add(const Program& program, const std::vector<std::string>& stages,
             const Outcome& outcome);
  std::vector<StepProfile> steps() const { return steps_; }
  double uploaded() const { return uploaded_; }
  double downloaded() const { return downloaded_; }
  double copied_up() const { return copied_up_; }
  double copied_down() const { return copied_down_; }

 private:
  std::vector<int>& places_of(const Program& program, const std::vector<std::string>& stages);
  int place_of(const std::string& name, const std::string& kernel, const std::string& apart);
  int add(const CodecWork& work, const std::string& name);

  std::mutex mutex_;
  std::map<const Program*, std::vector<int>> places_;
  std::map<std::string, int> known_;  // by their text
  std::vector<StepProfile> steps_;
  double uploaded_ = 0, downloaded_ = 0, copied_up_ = 0, copied_down_ = 0;
};

}  // namespace impipe::engine
