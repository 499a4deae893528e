// Runs the work on many files: decoding, computing and encoding of different files overlap on a
// fixed number of threads, with a bound on the files and bytes in flight.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/thread_pool.hpp"
#include "engine/batch/file_report.hpp"
#include "engine/batch/timeline.hpp"

namespace impipe::engine {

// What is done with a file, in this order; once more from the beginning after a reason that may
// pass (BatchOptions::retries).
enum class Part { prepare, decode, compute, encode };
std::string_view name_of(Part part);  // as errors name it: "decode" for the first two

// What a part found out too late that another should have: the file fails there.
class PartError : public Error {
 public:
  PartError(Part part, const Error& error)
      : Error(error.what(), error.code(), error.may_pass()), part_(part) {}
  Part part() const { return part_; }

 private:
  Part part_;
};

// The work on one file. Each part is called once, after the one before it has returned, from any
// thread. A part that throws fails this file alone, out of memory included; the parts after it are
// not called.
class FileWork {
 public:
  virtual ~FileWork() = default;
  // Looks at the file's header. Returns the bytes that the parts hold at most at the same time;
  // nothing when the file is to be skipped. May throw, as the other parts may.
  virtual std::optional<std::int64_t> prepare() = 0;
  virtual void decode() {}
  // lane: of the thread, in [0, threads), or with a timeout [0, threads + max_hung), behind
  // BatchOptions::first_lane; no two parts run on one lane at the same time.
  virtual void compute(int /*lane*/) {}
  virtual void encode() {}
  // Seconds of `compute` in which it decoded and encoded itself.
  struct Within {
    double decode = 0, encode = 0;
  };
  virtual Within within_compute() const { return {}; }
  // What else may be computed together with it, asked after `decode`: files of equal keys, `most`
  // of them at most.
  struct Stack {
    std::string key;
    int most = 1;
    // How many such stacks are computed at the same time at most; 0: any number.
    int at_once = 0;
  };
  virtual Stack stack() const { return {}; }
  // Instead of `compute` for each: this file, which is the first of `files`, and the others.
  // Returns those that are left to `compute`. When it throws, nothing has happened, and each is
  // computed alone.
  virtual std::vector<const FileWork*> compute_stack(int, std::span<FileWork* const> files) {
    return {files.begin(), files.end()};
  }
  // Until when a part that runs is worth its time (BatchOptions::timeout). A part that can end
  // early asks `is_late` now and then, and any before it writes.
  void limit(std::chrono::steady_clock::time_point until) { until_ = until; }
  bool is_late() const { return std::chrono::steady_clock::now() > until_; }
  // Whether another FileWork of the same index may do it once more, after an error that may pass.
  virtual bool may_repeat() const { return true; }
  // Lets go of everything but what a report needs. Called once, after the last part or an error.
  virtual void release() {}

 private:
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
};

struct FileEnd {
  using State = FileState;
  State state = State::done;
  Part part = Part::encode;  // that failed
  std::string message;       // why
  bool may_pass = false;     // see Error
  int tries = 1;
};

// How long a file waits that has failed `tries` times: twice as long after each, up to half a
// minute.
std::chrono::milliseconds retry_pause(int tries);

// Files that come while the batch runs, one after the other.
class Arrivals {
 public:
  struct Count {
    std::int64_t come = 0;
    bool over = false;  // and no more will
  };
  virtual ~Arrivals() = default;
  virtual Count count() = 0;  // asked often; any thread
  // To be called, by any thread but the batch's, after each change; an empty one ends that.
  virtual void set_wake(std::function<void()> wake) = 0;
};

struct BatchOptions {
  int threads = 1;
  // Files between prepare and release; n files of a stack of at most n count as one.
  int in_flight = 2;
  std::int64_t memory = std::int64_t{1} << 62;  // bytes in flight; one file may have more
  bool fail_fast = false;                       // the first failure stops the batch
  int retries = 0;  // how often a file is done once more that failed for a reason that may pass
  std::function<std::chrono::milliseconds(int)> pause = retry_pause;
  // Seconds that the parts of a file may take together; 0: any. A file that has taken longer fails
  // when its part ends; a part that has not ended so long after (grace) is given up: its file
  // fails, another thread takes the place of the one that hangs, and see `threads_hang`.
  double timeout = 0;
  double grace = 1;
  std::function<bool()> stop = [] { return false; };  // asked often; any thread
  // Asked often, by the calling thread: once true no file is begun, those that are in work come to
  // their end, and the others are not reported. A file that waits for another try has it at once.
  std::function<bool()> no_more;
  // Asked often, any thread: how many threads are to be left without work at the moment, if others
  // have some.
  std::function<int()> idle = [] { return 0; };
  Arrivals* arrivals = nullptr;  // then `count` is the most that may come
  int first_lane = 0;            // of the threads' lanes, where others hang in those below
  Timeline* timeline = nullptr;  // where each part's time is told; or nowhere
  // There a file's number is behind `first_file`, or it is that one, whose frames these are.
  std::int64_t first_file = 0;
  bool is_one_file = false;
};

// Seconds of all threads together. wait: idle, before their start and after their end too;
// help: tiles of images that another thread computes.
struct BatchTimes {
  double wall = 0, prepare = 0, decode = 0, compute = 0, encode = 0, help = 0, wait = 0;
  BatchTimes& operator+=(const BatchTimes& other) {
    for (double BatchTimes::*one :
         {&BatchTimes::wall, &BatchTimes::prepare, &BatchTimes::decode, &BatchTimes::compute,
          &BatchTimes::encode, &BatchTimes::help, &BatchTimes::wait}) {
      this->*one += other.*one;
    }
    return *this;
  }
};

struct BatchEnd {
  std::int64_t done = 0, skipped = 0, failed = 0;
  bool stopped = false;  // by `stop`, fail_fast or a report that returned false
  int hung = 0;          // threads that were given up
  int threads = 1;       // that worked: fewer than asked for when the system refuses them
  BatchTimes times;
};

// Whether some batch of this process has given up a thread. What the thread uses may not be
// destroyed then, nor may the process end but by _exit.
bool threads_hang() noexcept;
// How many threads a batch gives up before it throws an Error; their lanes are above those of the
// others.
constexpr int max_hung = 64;

// `open` makes the work on file `index` (any thread; when it throws the file fails, and the report
// gets a null pointer). `report` is called for each file in the order of the indices, `tick` now
// and then, both on the calling thread; a report that returns false stops the batch. When stopped
// nothing new starts, parts that run come to their end, and files that are not done are not
// reported. When no thread can be started the calling thread does all the work.
using OpenWork = std::function<std::unique_ptr<FileWork>(std::int64_t index)>;
using ReportWork = std::function<bool(std::int64_t index, const FileWork*, const FileEnd&)>;
BatchEnd run_batch(
    std::int64_t count, const OpenWork& open, const BatchOptions& options, ThreadPool& pool,
    const ReportWork& report, const std::function<void()>& tick = [] {});

}  // namespace impipe::engine
