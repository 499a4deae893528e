// The scheduler of a batch: threads take the part that brings a file nearest to its end (encode
// before compute before decode), so that few files are in flight, and else help with tiles.
#include "engine/batch/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"

namespace impipe::engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How long the calling thread sleeps between two looks at `stop` when nothing happens.
constexpr auto tick_interval = std::chrono::milliseconds(50);

struct File {
  std::int64_t index = 0;
  std::unique_ptr<FileWork> work;
  int tries = 1;     // the one that goes on among them
  double spent = 0;  // seconds, by the parts of this try
  std::int64_t bytes = 0;
  FileWork::Stack stack;
  FileEnd end;            // when it has come to its end
  Clock::time_point due;  // when it is tried again
  double weight = 1;      // of the files in flight
};

// Files go from queue to queue as nodes of lists: that takes no memory, so that a file is never
// lost when there is none. In the order of the input, so that reports need not wait for stragglers.
using Files = std::list<File>;

// Moves the first of `from` to where it belongs.
void move_first(Files& from, Files& to) noexcept {
  auto place = to.end();
  while (place != to.begin() && std::prev(place)->index > from.front().index) --place;
  to.splice(place, from, from.begin());
}

FileEnd failure(Part part, const char* message, bool may_pass = false) noexcept {
  try {
    return {FileEnd::State::failed, part, message, may_pass};
  } catch (const std::bad_alloc&) {
    return {FileEnd::State::failed, part, "out of memory", true};  // short enough to need none
  }
}

// Why the exception that is being handled fails a file.
FileEnd failure_by_exception(Part part) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return failure(part, "out of memory", true);
  } catch (const PartError& error) {
    return failure(error.part(), error.what(), error.may_pass());
  } catch (const Error& error) {
    return failure(part, error.what(), error.may_pass());
  } catch (const std::exception& error) {
    return failure(part, error.what());
  } catch (...) {
    return failure(part, "an error of an unknown kind");
  }
}

std::atomic<bool> some_hang = false;

Clock::duration clock_time(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

class Batch {
 public:
  Batch(std::int64_t count, const OpenWork& open, const BatchOptions& options, ThreadPool& pool)
      : count_(count), open_(open), options_(options), pool_(pool), free_(1) {
    jobs_.reserve(static_cast<std::size_t>(std::max(1, options.threads)) + max_hung);
  }

  BatchEnd run(const ReportWork& report, const std::function<void()>& tick) {
    const auto start = start_ = Clock::now();
    pool_.set_wake([this] {
      std::lock_guard lock(mutex_);
      wake();
    });
    threads_ =
        start_threads(options_.threads, [this](int lane) { serve(options_.first_lane + lane); });
    if (options_.arrivals != nullptr) {
      options_.arrivals->set_wake([this] {
        std::lock_guard lock(mutex_);
        wake();
        reported_.notify_all();
      });
    }
    const auto join = [&] {
      wait_for_threads();
      pool_.set_wake({});
      if (options_.arrivals != nullptr) options_.arrivals->set_wake({});
    };
    end_.threads = std::max(1, static_cast<int>(threads_.size()));
    try {
      report_in_order(report, tick, threads_.empty());
    } catch (...) {
      stop();
      join();
      throw;
    }
    join();
    end_.times.wall = seconds_since(start);
    // Before a thread runs and after it has left, it waits.
    end_.times.wait += end_.threads * end_.times.wall - served_;
    end_.hung = hung_;
    return end_;
  }

  bool hangs() const { return hung_ > 0; }
  Batch* kept_before = nullptr;  // the previous one with threads that hang; these are not freed

 private:
  // What a thread does next.
  struct Job {
    // The first ones are those of Part.
    enum class Kind { prepare, decode, compute, encode, nothing, leave } kind = Kind::nothing;
    FileWork::Within within;
    Files files;  // one, or several that are computed together
    Clock::time_point begin, until = Clock::time_point::max();  // of the part that runs
    bool given_up = false;    // the files are reported, and the thread is nobody's
    bool is_limited = false;  // counts among those of FileWork::Stack::at_once
  };

  static Part part_of(Job::Kind kind) {
    return kind <= Job::Kind::encode ? static_cast<Part>(kind) : Part::encode;
  }

  void stop() {
    std::lock_guard lock(mutex_);
    stopping_ = end_.stopped = true;
    wake();
  }

  // Called with the lock held, whenever there may be something new to do.
  void wake() {
    ++events_;
    changed_.notify_all();
  }

  // alone: there are no threads, and the calling one does the work between the reports.
  void report_in_order(const ReportWork& report, const std::function<void()>& tick, bool alone) {
    BatchTimes times;
    const auto begin = Clock::now();
    for (std::int64_t next = 0; next < count_;) {
      std::unique_lock lock(mutex_);
      if (!stopping_ && options_.stop()) {
        stopping_ = end_.stopped = true;
        wake();
      }
      if (!closing_ && options_.no_more && options_.no_more()) {
        closing_ = true;
        count_ = next_;
        wake();
      }
      if (options_.arrivals != nullptr) {
        const Arrivals::Count count = options_.arrivals->count();
        if (count.over && count_ > count.come) {
          count_ = count.come;
          wake();
          continue;
        }
      }
      give_up_hung();
      const bool over = stopping_ && running_ == 0;
      if (ended_.empty() || !(over || ended_.front().index == next)) {
        if (over) break;
        if (!to_retry_.empty()) wake();  // one may be due
        if (!alone || work_once(options_.first_lane, times, lock) == Job::Kind::nothing) {
          reported_.wait_for(lock, tick_interval);
        }
        lock.unlock();
        replace_hung();
        tick();
        continue;
      }
      Files ended;
      ended.splice(ended.end(), ended_, ended_.begin());
      lock.unlock();
      const File& file = ended.front();
      next = file.index + 1;
      switch (file.end.state) {
        case FileEnd::State::done: ++end_.done; break;
        case FileEnd::State::skipped: ++end_.skipped; break;
        case FileEnd::State::failed: ++end_.failed; break;
      }
      if (!report(file.index, file.work.get(), file.end)) {
        stop();
        break;
      }
      ended.front() = File{};
      lock.lock();
      free_.splice(free_.end(), ended);
      wake();  // somebody may wait for it
    }
    if (alone) add(times, seconds_since(begin));
  }

  bool fits(const File& file) const {
    return in_flight_ == 0 ||
           (slots_ < options_.in_flight && bytes_ + file.bytes <= options_.memory);
  }

  // A stack counts as one file; of those that may not all be computed at once, no more are read
  // than keep the threads busy.
  double weight_of(const FileWork::Stack& stack) const {
    constexpr int ahead = 3;
    const double of_stack =
        stack.at_once == 0 ? 1 : std::max(1.0, options_.in_flight / (stack.at_once + 1.0 * ahead));
    return std::min(1.0, of_stack / stack.most);
  }

  // Takes the next files to compute: the first that need not wait for others of their stack or,
  // unless `full`, whatever there is.
  bool take_stack(Job& job, bool full) {
    for (auto first = to_compute_.begin(); first != to_compute_.end(); ++first) {
      const FileWork::Stack& stack = first->stack;
      if (stack.at_once > 0 && limited_ >= stack.at_once) continue;
      const auto alike = [&](const File& f) { return f.stack.key == stack.key; };
      const bool alone = stack.most <= 1;
      if (full && !alone && std::ranges::count_if(to_compute_, alike) < stack.most) {
        continue;
      }
      job.kind = Job::Kind::compute;
      job.is_limited = stack.at_once > 0;
      limited_ += job.is_limited ? 1 : 0;
      auto other = std::next(first);
      job.files.splice(job.files.end(), to_compute_, first);
      while (!alone && other != to_compute_.end() &&
             static_cast<int>(job.files.size()) < stack.most) {
        const auto joins = other++;
        if (alike(*joins)) job.files.splice(job.files.end(), to_compute_, joins);
      }
      return true;
    }
    return false;
  }

  // Whether a stack that is not full may be taken: a launch costs more than some small images, so
  // that one waits for those that are being decoded, unless many wait already.
  bool may_take_part() const {
    constexpr std::size_t many = 256;
    return preparing_ + decoding_ == 0 || to_compute_.size() >= many;
  }

  // A node for the next file. Without memory for a new one, it waits until one is told and free:
  // the first file that is not yet told has one and is in work, so that there will be.
  bool take_free(Job& job) {
    if (free_.empty()) {
      try {
        free_.emplace_back();
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
    job.files.splice(job.files.end(), free_, free_.begin());
    job.files.front().index = next_++;
    return true;
  }

  // Whether there is another file.
  bool has_come() const {
    if (next_ >= count_) return false;
    return options_.arrivals == nullptr || next_ < options_.arrivals->count().come;
  }

  // A file whose pause after a failure is over.
  bool take_due(Job& job) {
    const auto now = Clock::now();
    const auto due = std::ranges::find_if(
        to_retry_, [&](const File& file) { return closing_ || file.due <= now; });
    if (due == to_retry_.end()) return false;
    job.files.splice(job.files.end(), to_retry_, due);
    return true;
  }

  // The part to run next, with its file taken from its queue. Called with the lock held.
  Job choose() {
    Job job;
    if (stopping_ || options_.stop()) {
      stopping_ = end_.stopped = true;
      job.kind = Job::Kind::leave;
    } else if (running_ > 0 && running_ + options_.idle() >= options_.threads) {
      // Whoever ends its part wakes the others.
    } else if (!to_encode_.empty()) {
      job.kind = Job::Kind::encode;
      move_first(to_encode_, job.files);
    } else if (take_stack(job, true)) {
    } else if (!to_decode_.empty() && fits(to_decode_.front())) {
      job.kind = Job::Kind::decode;
      move_first(to_decode_, job.files);
      ++decoding_;
      ++in_flight_;
      slots_ += 1;
      bytes_ += job.files.front().bytes;
    } else if (preparing_ + static_cast<int>(to_decode_.size()) < std::max(1, options_.threads) &&
               (take_due(job) || (has_come() && take_free(job)))) {
      job.kind = Job::Kind::prepare;
      ++preparing_;
    } else if (may_take_part() && take_stack(job, false)) {
    } else if (next_ == count_ && preparing_ == 0 && to_decode_.empty() && to_retry_.empty() &&
               in_flight_ == 0) {
      job.kind = Job::Kind::leave;
    }
    return job;
  }

  // Chooses a part of some file and does it; tells what it was. Called with the lock held, which is
  // open meanwhile.
  Job::Kind work_once(int lane, BatchTimes& times, std::unique_lock<std::mutex>& lock) {
    Job job = choose();
    if (job.kind == Job::Kind::leave || job.kind == Job::Kind::nothing) return job.kind;
    const auto start = Clock::now();
    ++running_;
    jobs_.push_back(&job);
    lock.unlock();
    const std::int64_t index = job.files.front().index;
    double* const spent[] = {&times.prepare, &times.decode, &times.compute, &times.encode};
    constexpr Slice::Kind kinds[] = {Slice::Kind::headers, Slice::Kind::decode,
                                     Slice::Kind::compute, Slice::Kind::encode};
    const auto part = static_cast<size_t>(job.kind);
    run_part(job, lane);
    lock.lock();
    if (job.given_up) {
      lock.unlock();
      job.files.clear();
      lock.lock();
      return Job::Kind::leave;
    }
    *spent[part] += tell(kinds[part], lane, index, start);
    // What was decoded and encoded in between is no computing.
    times.decode += job.within.decode;
    times.encode += job.within.encode;
    times.compute -= job.within.decode + job.within.encode;
    jobs_.erase(std::ranges::find(jobs_, &job));
    --running_;
    if (job.kind == Job::Kind::decode) --decoding_;
    if (job.is_limited) --limited_;
    wake();
    return job.kind;
  }

  // Of the timeline.
  std::int64_t file_of(std::int64_t index) const {
    if (index < 0) return index;
    return options_.first_file + (options_.is_one_file ? 0 : index);
  }

  // Returns the seconds since `start`.
  double tell(Slice::Kind kind, int lane, std::int64_t index, Clock::time_point start) const {
    const auto end = Clock::now();
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    if (options_.timeline != nullptr) {
      options_.timeline->add({.kind = kind,
                              .lane = lane,
                              .file = file_of(index),
                              .begin = seconds(start.time_since_epoch()),
                              .end = seconds(end.time_since_epoch())});
    }
    return seconds(end - start);
  }

  void serve(int lane) noexcept {
    BatchTimes times;
    const auto begin = Clock::now();
    std::unique_lock lock(mutex_);
    if (!std::exchange(begun_, true)) tell(Slice::Kind::start_up, lane, -1, start_);
    while (true) {
      const Job::Kind did = work_once(lane, times, lock);
      if (did == Job::Kind::leave) break;
      if (did != Job::Kind::nothing) continue;
      const auto start = Clock::now();
      const std::int64_t seen = events_;
      lock.unlock();
      const bool helped = pool_.help();
      lock.lock();
      // What happened while the lock was open, a loop's start say, must not be slept over.
      if (helped) {
        times.help += tell(Slice::Kind::help, lane, -1, start);
      } else {
        changed_.wait(lock, [&] { return events_ != seen; });
        times.wait += seconds_since(start);
      }
    }
    add(times, seconds_since(begin));
    ++left_;
    wake();
    reported_.notify_all();
  }

  // The files of jobs whose time is over for long have come to their end.
  void give_up_hung() {
    if (options_.timeout <= 0) return;
    const auto now = Clock::now();
    for (std::size_t i = 0; i < jobs_.size();) {
      Job& job = *jobs_[i];
      if (job.until == Clock::time_point::max() || now < job.until + clock_time(options_.grace) ||
          !give_up(job)) {
        ++i;
        continue;
      }
      jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // False without memory for it.
  bool give_up(Job& job) noexcept {
    Files ended;
    const Part part = part_of(job.kind);
    try {
      for (const File& file : job.files) {
        File& end = ended.emplace_back();
        end.index = file.index;
        end.end = {FileEnd::State::failed, part, late_message(), false, file.tries};
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    some_hang = true;
    job.given_up = true;
    ++hung_;
    --running_;
    if (part == Part::decode) --decoding_;
    if (job.is_limited) --limited_;
    for (const File& file : job.files) leave_flight(part, file);
    if (!options_.stop()) {
      if (options_.fail_fast) stopping_ = true;
      while (!ended.empty()) move_first(ended, ended_);
    }
    wake();
    return true;
  }

  // A new thread for each that hangs.
  void replace_hung() {
    for (; replaced_ < hung_; ++replaced_) {
      if (hung_ > max_hung) {
        throw Error("more than " + std::to_string(max_hung) + " files hang, and so does the rest",
                    ExitCode::file_failed);
      }
      const int lane = options_.first_lane + std::max(1, options_.threads) + replaced_;
      auto started = start_threads(1, [this, lane](int) { serve(lane); });
      if (!started.empty()) {
        threads_.push_back(std::move(started.front()));
      } else if (static_cast<int>(threads_.size()) == hung_) {
        throw Error("files hang, and the system lets no more threads start", ExitCode::file_failed);
      }
    }
  }

  // Those that hang, and those that help them, may never end.
  void wait_for_threads() {
    if (hung_ > 0) {
      std::unique_lock lock(mutex_);
      reported_.wait_for(lock, clock_time(options_.grace),
                         [&] { return left_ + hung_ >= static_cast<int>(threads_.size()); });
    }
    for (std::thread& t : threads_) {
      if (hung_ > 0) {
        t.detach();
      } else {
        t.join();
      }
    }
  }

  std::string late_message() const {
    return fmt::format("it took longer than {} s (--timeout)", options_.timeout);
  }

  // What one thread has done.
  void add(const BatchTimes& times, double seconds) {
    end_.times += times;
    served_ += seconds;
  }

  // Runs a part of the files of the job, and hands them on.
  void run_part(Job& job, int lane) noexcept {
    if (job.kind == Job::Kind::compute) {
      if (job.files.size() > 1 && compute_stack(job, lane)) return;
      while (!job.files.empty() && !is_given_up(job)) run_one(job, lane);
    } else {
      run_one(job, lane);
    }
  }

  bool is_given_up(const Job& job) {
    std::lock_guard lock(mutex_);
    return job.given_up;
  }

  // Sets the time that the next part of the job has.
  void start_clock(Job& job, double seconds) {
    if (options_.timeout <= 0) return;
    std::lock_guard lock(mutex_);
    job.begin = Clock::now();
    job.until = job.begin + clock_time(seconds);
    if (job.files.front().work) job.files.front().work->limit(job.until);
  }

  // A part of the file at the front of the job.
  void run_one(Job& job, int lane) noexcept {
    File& file = job.files.front();
    const Part part = part_of(job.kind);
    std::optional<FileEnd> end;
    std::int64_t bytes = 0;
    FileWork::Stack stack;
    start_clock(job, options_.timeout - file.spent);
    try {
      if (part == Part::prepare) {
        file.work = open_(file.index);
        file.work->limit(job.until);
        const std::optional<std::int64_t> most = file.work->prepare();
        bytes = most.value_or(0);
        if (!most) end = {FileEnd::State::skipped, part, ""};
      } else if (part == Part::decode) {
        file.work->decode();
        stack = file.work->stack();
      } else if (part == Part::compute) {
        file.work->compute(lane);
      } else {
        file.work->encode();
        end = {FileEnd::State::done, part, ""};
      }
    } catch (...) {
      end = failure_by_exception(part);
    }
    if (part == Part::compute) {
      const FileWork::Within within = file.work->within_compute();
      job.within.decode += within.decode;
      job.within.encode += within.encode;
    }
    if (Clock::now() > job.until && (!end || end->state == FileEnd::State::failed)) {
      end = failure(part, late_message().c_str());
    }
    if (end) return finish(part, job, std::move(*end));
    std::lock_guard lock(mutex_);
    if (job.given_up) return;
    hand_on(part, job, bytes, std::move(stack));
  }

  // The first file of the job, to where its next part is chosen.
  void hand_on(Part part, Job& job, std::int64_t bytes, FileWork::Stack stack) noexcept {
    File& file = job.files.front();
    if (options_.timeout > 0) file.spent += seconds_since(job.begin);
    if (part == Part::prepare) {
      file.bytes = bytes;
      --preparing_;
    } else if (part == Part::decode) {
      file.stack = std::move(stack);
      file.weight = weight_of(file.stack);
      slots_ += file.weight - 1;
    }
    move_first(job.files, part == Part::prepare  ? to_decode_
                          : part == Part::decode ? to_compute_
                                                 : to_encode_);
  }

  // All together; false when some are left, or all, to be computed alone.
  bool compute_stack(Job& job, int lane) noexcept {
    start_clock(job, options_.timeout * static_cast<double>(job.files.size()));
    std::vector<const FileWork*> left;
    try {
      std::vector<FileWork*> works;
      for (const File& file : job.files) works.push_back(file.work.get());
      left = works.front()->compute_stack(lane, works);
    } catch (...) {
      return false;
    }
    std::lock_guard lock(mutex_);
    if (job.given_up) return true;
    Files done;
    for (auto file = job.files.begin(); file != job.files.end();) {
      const auto which = file++;
      const bool is_left = std::ranges::find(left, which->work.get()) != left.end();
      if (!is_left) done.splice(done.end(), job.files, which);
    }
    while (!done.empty()) move_first(done, to_encode_);
    if (left.empty()) return true;
    wake();
    return false;
  }

  // Whether this failure is not the end; the file has to wait then.
  bool may_try_again(File& file, const FileEnd& end) const noexcept {
    if (end.state != FileEnd::State::failed || !end.may_pass || closing_ ||
        file.tries > options_.retries || (file.work && !file.work->may_repeat())) {
      return false;
    }
    file.due = Clock::now() + options_.pause(file.tries++);
    file.spent = 0;
    file.work.reset();
    return true;
  }

  // Makes room for others in the place of a file whose `part` was the last one.
  void leave_flight(Part part, const File& file) {
    if (part == Part::prepare) {
      --preparing_;
      return;
    }
    --in_flight_;
    slots_ = in_flight_ > 0 ? slots_ - file.weight : 0;
    bytes_ -= file.bytes;
  }

  // The first file of the job has come to its end, or is to wait for another try.
  void finish(Part part, Job& job, FileEnd end) noexcept {
    Files& files = job.files;
    File& file = files.front();
    if (file.work) file.work->release();
    std::lock_guard lock(mutex_);
    if (job.given_up) return;
    leave_flight(part, file);
    end.tries = file.tries;
    if (end.state == FileEnd::State::failed) {
      // A part that gave up because of the stop says nothing about its file.
      if (options_.stop()) return files.pop_front();
      if (may_try_again(file, end)) return move_first(files, to_retry_);
      if (options_.fail_fast) stopping_ = true;
    }
    file.end = std::move(end);
    move_first(files, ended_);
    reported_.notify_all();
  }

  std::int64_t count_;  // changed by the calling thread alone
  // Copies: a thread that hangs may come back when the caller has gone.
  const OpenWork open_;
  const BatchOptions options_;
  ThreadPool& pool_;

  std::mutex mutex_;
  std::condition_variable changed_;   // for the threads: there may be something to do
  std::condition_variable reported_;  // for the caller: a file has ended
  Files free_, to_retry_, to_decode_, to_compute_, to_encode_, ended_;
  std::vector<Job*> jobs_;  // that run
  std::vector<std::thread> threads_;
  int hung_ = 0, replaced_ = 0, left_ = 0;  // threads that were given up; new ones; that have ended
  std::int64_t next_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t events_ = 0;
  int in_flight_ = 0, preparing_ = 0, decoding_ = 0, running_ = 0;
  int limited_ = 0;    // jobs that run, see Job::is_limited
  double slots_ = 0;   // of options_.in_flight that are taken
  double served_ = 0;  // seconds between the start and the end of all threads
  bool stopping_ = false, closing_ = false, begun_ = false;
  Clock::time_point start_;
  BatchEnd end_;
};

}  // namespace

std::chrono::milliseconds retry_pause(int tries) {
  constexpr std::chrono::milliseconds first{500}, longest{30'000};
  constexpr int doublings = 6;
  return std::min(longest, first * (1 << std::min(tries - 1, doublings)));
}

bool threads_hang() noexcept { return some_hang; }

std::string_view name_of(Part part) {
  switch (part) {
    case Part::prepare:
    case Part::decode: return "decode";
    case Part::compute: return "compute";
    case Part::encode: return "encode";
  }
  return "?";
}

BatchEnd run_batch(std::int64_t count, const OpenWork& open, const BatchOptions& options,
                   ThreadPool& pool, const ReportWork& report, const std::function<void()>& tick) {
  const auto destroy = [](Batch* batch) {
    static Batch* kept = nullptr;  // the last one, which knows the one before
    if (!batch->hangs()) {
      delete batch;
    } else {
      batch->kept_before = std::exchange(kept, batch);
    }
  };
  const std::unique_ptr<Batch, decltype(destroy)> batch(new Batch(count, open, options, pool),
                                                        destroy);
  return batch->run(report, tick);
}

}  // namespace impipe::engine
