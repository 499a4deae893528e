// The scheduler of a batch: threads take the part that brings a file nearest to its end (encode
// before compute before decode), so that few files are in flight, and else help with tiles.
#include "engine/batch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.hpp"

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
  std::int64_t bytes = 0;
  FileWork::Stack stack;
  double weight() const { return 1.0 / stack.most; }  // of the files in flight
};

class Batch {
 public:
  Batch(std::int64_t count, const std::function<std::unique_ptr<FileWork>(std::int64_t)>& open,
        const BatchOptions& options, ThreadPool& pool)
      : count_(count), open_(open), options_(options), pool_(pool) {}

  BatchEnd run(const std::function<bool(std::int64_t, FileWork&, const FileEnd&)>& report,
               const std::function<void()>& tick) {
    const auto start = Clock::now();
    pool_.set_wake([this] {
      std::lock_guard lock(mutex_);
      wake();
    });
    std::vector<std::thread> threads;
    for (int lane = 0; lane < options_.threads; ++lane) {
      threads.emplace_back([this, lane] { serve(lane); });
    }
    try {
      report_in_order(report, tick);
    } catch (...) {
      stop();
      for (std::thread& t : threads) t.join();
      pool_.set_wake({});
      throw;
    }
    for (std::thread& t : threads) t.join();
    pool_.set_wake({});
    end_.times.wall = seconds_since(start);
    // Before a thread runs and after it has left, it waits.
    end_.times.wait += options_.threads * end_.times.wall - served_;
    return end_;
  }

 private:
  struct Ended {
    std::unique_ptr<FileWork> work;
    FileEnd end;
  };
  // What a thread does next.
  struct Job {
    enum class Kind { prepare, decode, compute, encode, nothing, leave } kind = Kind::nothing;
    File file;
    std::vector<File> others;  // computed together with it
  };

  void stop() {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    wake();
  }

  // Called with the lock held, whenever there may be something new to do.
  void wake() {
    ++events_;
    changed_.notify_all();
  }

  void report_in_order(const std::function<bool(std::int64_t, FileWork&, const FileEnd&)>& report,
                       const std::function<void()>& tick) {
    for (std::int64_t next = 0; next < count_;) {
      std::unique_lock lock(mutex_);
      if (!stopping_ && options_.stop()) {
        stopping_ = true;
        wake();
      }
      const bool over = stopping_ && running_ == 0;
      auto found = over ? ended_.begin() : ended_.find(next);
      if (found == ended_.end()) {
        if (over) return;
        reported_.wait_for(lock, tick_interval);
        lock.unlock();
        tick();
        continue;
      }
      next = found->first + 1;
      Ended ended = std::move(found->second);
      ended_.erase(found);
      lock.unlock();
      switch (ended.end.state) {
        case FileEnd::State::done: ++end_.done; break;
        case FileEnd::State::skipped: ++end_.skipped; break;
        case FileEnd::State::failed: ++end_.failed; break;
      }
      if (!report(next - 1, *ended.work, ended.end)) {
        stop();
        return;
      }
    }
  }

  bool fits(const File& file) const {
    return in_flight_ == 0 ||
           (slots_ < options_.in_flight && bytes_ + file.bytes <= options_.memory);
  }

  static File take_first(std::deque<File>& queue) {
    File file = std::move(queue.front());
    queue.pop_front();
    return file;
  }

  // Takes the next files to compute: the first that need not wait for others of their stack or,
  // unless `full`, whatever there is.
  bool take_stack(Job& job, bool full) {
    for (const File& first : to_compute_) {
      const auto alike = [&](const File& f) { return f.stack.key == first.stack.key; };
      const bool alone = first.stack.most <= 1;
      if (full && !alone &&
          std::count_if(to_compute_.begin(), to_compute_.end(), alike) < first.stack.most) {
        continue;
      }
      job.kind = Job::Kind::compute;
      const FileWork::Stack stack = first.stack;
      const std::int64_t index = first.index;
      std::deque<File> left;
      for (File& file : to_compute_) {
        const bool is_first = file.index == index;
        const bool joins = !alone && file.stack.key == stack.key &&
                           static_cast<int>(job.others.size()) + 1 < stack.most;
        if (is_first) {
          job.file = std::move(file);
        } else if (joins && file.index > index) {
          job.others.push_back(std::move(file));
        } else {
          left.push_back(std::move(file));
        }
      }
      to_compute_ = std::move(left);
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

  // The part to run next, with its file taken from its queue. Called with the lock held.
  Job choose() {
    Job job;
    if (stopping_ || options_.stop()) {
      stopping_ = end_.stopped = true;
      job.kind = Job::Kind::leave;
    } else if (!to_encode_.empty()) {
      job.kind = Job::Kind::encode;
      job.file = take_first(to_encode_);
    } else if (take_stack(job, true)) {
    } else if (!to_decode_.empty() && fits(to_decode_.front())) {
      job.kind = Job::Kind::decode;
      job.file = take_first(to_decode_);
      ++decoding_;
      ++in_flight_;
      slots_ += 1;
      bytes_ += job.file.bytes;
    } else if (next_ < count_ &&
               preparing_ + static_cast<int>(to_decode_.size()) < options_.threads) {
      job.kind = Job::Kind::prepare;
      job.file.index = next_++;
      ++preparing_;
    } else if (may_take_part() && take_stack(job, false)) {
    } else if (next_ == count_ && preparing_ == 0 && to_decode_.empty() && in_flight_ == 0) {
      job.kind = Job::Kind::leave;
    }
    return job;
  }

  void serve(int lane) {
    BatchTimes times;
    const auto begin = Clock::now();
    std::unique_lock lock(mutex_);
    while (true) {
      Job job = choose();
      if (job.kind == Job::Kind::leave) break;
      const auto start = Clock::now();
      if (job.kind == Job::Kind::nothing) {
        const std::int64_t seen = events_;
        lock.unlock();
        const bool helped = pool_.help();
        lock.lock();
        // What happened while the lock was open, a loop's start say, must not be slept over.
        if (!helped) changed_.wait(lock, [&] { return events_ != seen; });
        (helped ? times.help : times.wait) += seconds_since(start);
        continue;
      }
      ++running_;
      lock.unlock();
      double* spent = job.kind == Job::Kind::prepare   ? &times.prepare
                      : job.kind == Job::Kind::decode  ? &times.decode
                      : job.kind == Job::Kind::compute ? &times.compute
                                                       : &times.encode;
      run_part(job, lane);
      *spent += seconds_since(start);
      lock.lock();
      --running_;
      if (job.kind == Job::Kind::decode) --decoding_;
      wake();
    }
    end_.times.prepare += times.prepare;
    end_.times.decode += times.decode;
    end_.times.compute += times.compute;
    end_.times.encode += times.encode;
    end_.times.help += times.help;
    end_.times.wait += times.wait;
    served_ += seconds_since(begin);
    wake();
    reported_.notify_all();
  }

  void run_part(Job& job, int lane) {
    using Kind = Job::Kind;
    File& file = job.file;
    const Part part = job.kind == Kind::prepare   ? Part::prepare
                      : job.kind == Kind::decode  ? Part::decode
                      : job.kind == Kind::compute ? Part::compute
                                                  : Part::encode;
    try {
      if (part == Part::prepare) {
        file.work = open_(file.index);
        const std::optional<std::int64_t> bytes = file.work->prepare();
        if (!bytes) return finish(part, std::move(file), {FileEnd::State::skipped, part, ""});
        file.bytes = *bytes;
        std::lock_guard lock(mutex_);
        --preparing_;
        insert(to_decode_, std::move(file));
      } else if (part == Part::decode) {
        file.work->decode();
        file.stack = file.work->stack();
        std::lock_guard lock(mutex_);
        slots_ += file.weight() - 1;
        insert(to_compute_, std::move(file));
      } else if (part == Part::compute) {
        if (!job.others.empty()) return compute_stack(job, lane);
        file.work->compute(lane);
        std::lock_guard lock(mutex_);
        insert(to_encode_, std::move(file));
      } else {
        file.work->encode();
        finish(part, std::move(file), {FileEnd::State::done, part, ""});
      }
    } catch (const std::bad_alloc&) {
      finish(part, std::move(file), {FileEnd::State::failed, part, "out of memory"});
    } catch (const Error& error) {
      finish(part, std::move(file), {FileEnd::State::failed, part, error.what()});
    }
  }

  // Together, or each alone when that fails.
  void compute_stack(Job& job, int lane) {
    std::vector<File> all;
    all.push_back(std::move(job.file));
    for (File& other : job.others) all.push_back(std::move(other));
    std::vector<FileWork*> works;
    for (const File& file : all) works.push_back(file.work.get());
    bool done = true;
    try {
      works.front()->compute_stack(lane, works);
    } catch (const std::bad_alloc&) {
      done = false;
    } catch (const Error&) {
      done = false;
    }
    for (File& file : all) {
      if (done) {
        std::lock_guard lock(mutex_);
        insert(to_encode_, std::move(file));
      } else {
        Job one{.kind = Job::Kind::compute, .file = std::move(file), .others = {}};
        run_part(one, lane);
      }
    }
  }

  // In the order of the input, so that reports need not wait for stragglers.
  static void insert(std::deque<File>& queue, File file) {
    auto place = std::upper_bound(queue.begin(), queue.end(), file,
                                  [](const File& a, const File& b) { return a.index < b.index; });
    queue.insert(place, std::move(file));
  }

  void finish(Part part, File file, FileEnd end) {
    if (file.work) file.work->release();
    std::lock_guard lock(mutex_);
    if (part == Part::prepare) {
      --preparing_;
    } else {
      --in_flight_;
      slots_ = in_flight_ > 0 ? slots_ - file.weight() : 0;
      bytes_ -= file.bytes;
    }
    if (end.state == FileEnd::State::failed) {
      // A part that gave up because of the stop says nothing about its file.
      if (options_.stop()) return;
      if (options_.fail_fast) stopping_ = true;
    }
    ended_[file.index] = {std::move(file.work), std::move(end)};
    reported_.notify_all();
  }

  const std::int64_t count_;
  const std::function<std::unique_ptr<FileWork>(std::int64_t)>& open_;
  const BatchOptions& options_;
  ThreadPool& pool_;

  std::mutex mutex_;
  std::condition_variable changed_;   // for the threads: there may be something to do
  std::condition_variable reported_;  // for the caller: a file has ended
  std::deque<File> to_decode_, to_compute_, to_encode_;
  std::map<std::int64_t, Ended> ended_;
  std::int64_t next_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t events_ = 0;
  int in_flight_ = 0, preparing_ = 0, decoding_ = 0, running_ = 0;
  double slots_ = 0;   // of options_.in_flight that are taken
  double served_ = 0;  // seconds between the start and the end of all threads
  bool stopping_ = false;
  BatchEnd end_;
};

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::prepare:
    case Part::decode: return "decode";
    case Part::compute: return "compute";
    case Part::encode: return "encode";
  }
  return "?";
}

BatchEnd run_batch(std::int64_t count,
                   const std::function<std::unique_ptr<FileWork>(std::int64_t)>& open,
                   const BatchOptions& options, ThreadPool& pool,
                   const std::function<bool(std::int64_t, FileWork&, const FileEnd&)>& report,
                   const std::function<void()>& tick) {
  return Batch(count, open, options, pool).run(report, tick);
}

}  // namespace impipe::engine
