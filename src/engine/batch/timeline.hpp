// What went on when, on every thread and queue of a run.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace impipe::engine {

// A stretch of time in which a thread or a queue did one thing.
struct Slice {
  enum class Kind : std::uint8_t {
    start_up,     // before the first file, on one thread
    finish,       // after the last one
    headers,      // of threads from here on
    decode,       // reading included
    compute,      // from upload to download; what goes on in it stands below
    encode,       // writing included
    help,         // tiles of another thread's image
    host,         // part of compute: launches, memory
    kernel_wait,  // part of compute: until a kernel was compiled
    upload,       // of queues from here on
    kernel,
    download,
    compile,  // of kernels, by threads of their own or by the driver
  };
  Kind kind = Kind::compute;
  std::int16_t device = -1;   // of a queue; -1: a thread's
  std::int32_t lane = 0;      // the thread's number; queues have that of their thread
  std::int32_t step = -1;     // kernels: place among the profile's steps
  std::int64_t file = -1;     // the first, of several computed together
  double begin = 0, end = 0;  // seconds since the program's start
};
inline constexpr int slice_kinds = static_cast<int>(Slice::Kind::compile) + 1;
std::string_view name_of(Slice::Kind kind);

// Sums of slices.
struct TimeSums {
  // Seconds of the wall clock in which something of the kind went on, however often at once: the
  // union of its slices. And all its slices added up.
  std::array<double, slice_kinds> wall{}, sum{};
  double covered = 0;  // seconds in which anything but `compute` went on
  double all = 0;      // `wall` of everything but `compute`, added up
  // A device's kernels, by its number.
  struct OfDevice {
    double busy = 0, sum = 0;         // seconds in kernels: their union, and added up
    double upload = 0, download = 0;  // unions
  };
  std::vector<OfDevice> devices;
  // Seconds of each step, none in which the device's driver compiled. Kernels that run at once on a
  // device share its time, so that steps add up to its busy time.
  std::vector<double> steps;

  double wall_of(Slice::Kind kind) const { return wall[static_cast<size_t>(kind)]; }
  double sum_of(Slice::Kind kind) const { return sum[static_cast<size_t>(kind)]; }
};

// Collects slices. Any thread may call any function.
class Timeline {
 public:
  // most: slices that are kept for `first`.
  Timeline(double start, std::size_t most) : start_(start), max_(most) {}

  double start() const { return start_; }  // of the program, on the steady clock
  // begin and end: on the steady clock. Where there is no memory for it, the slice is left out.
  void add(Slice slice) noexcept;
  // Of all slices so far.
  TimeSums sums();
  double last_end() const;  // of all slices, on the steady clock
  // The first that were added.
  std::vector<Slice> first() const;
  bool is_cut() const;  // there were more than those

 private:
  // Takes what lies before `until` into sums_.
  void fold(double until);

  // Slices wait to be added up until this many are there.
  static constexpr std::size_t max_waiting = std::size_t{1} << 17;
  const double start_;
  const std::size_t max_;
  mutable std::mutex mutex_;
  std::vector<Slice> waiting_, first_;
  double folded_ = 0;  // what lies before it is in sums_
  double last_end_ = 0;
  bool cut_ = false;
  TimeSums sums_;
};

}  // namespace impipe::engine
