// The batch scheduler with made-up work: order, isolation of failures, bounds, and stopping.
#include "engine/batch/batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace impipe::engine {
namespace {

// What a made-up file does, and what all of them have seen.
struct Ledger {
  std::map<std::int64_t, Part> fails;
  std::map<std::int64_t, int> passes;  // how often such a failure passes, and the file is done then
  bool repeats = true;
  std::map<std::int64_t, std::pair<Part, int>> slow;  // milliseconds that a part takes
  std::atomic<bool> awake{false};                     // ends all that is slow
  bool asks = false;                                  // and ends when it is late
  std::set<std::int64_t> skips;
  std::int64_t bytes_each = 10;
  int microseconds = 200;
  std::atomic<int> in_flight{0}, max_in_flight{0}, encoded{0}, released{0}, computing[64] = {};
  std::atomic<bool> lane_shared{false};
  std::atomic<bool> stop{false};
  std::int64_t stop_at = -1;
  int stacked = 1;  // files that are computed together at most, even apart from odd
  bool stacks_fail = false;
  int at_once = 0;              // stacks that are computed at the same time at most
  std::set<std::int64_t> left;  // that a stack leaves to be computed alone
  std::atomic<int> stacks_now{0}, max_stacks{0};
  std::atomic<int> alone{0};  // files that were computed alone
  std::mutex mutex;
  std::vector<std::vector<std::int64_t>> stacks;
};

class MadeUp : public FileWork {
 public:
  MadeUp(Ledger& ledger, std::int64_t index) : ledger_(ledger), index_(index) {}
  std::optional<std::int64_t> prepare() override {
    step(Part::prepare);
    if (ledger_.skips.count(index_)) return std::nullopt;
    return ledger_.bytes_each;
  }
  void decode() override {
    const int now = ++ledger_.in_flight;
    holds_ = true;
    int most = ledger_.max_in_flight;
    while (now > most && !ledger_.max_in_flight.compare_exchange_weak(most, now)) {
    }
    step(Part::decode);
  }
  void compute(int lane) override {
    if (++ledger_.computing[lane] > 1) ledger_.lane_shared = true;
    ++ledger_.alone;
    step(Part::compute);
    --ledger_.computing[lane];
  }
  Stack stack() const override {
    return {index_ % 2 == 0 ? "even" : "odd", ledger_.stacked, ledger_.at_once};
  }
  std::vector<const FileWork*> compute_stack(int, std::span<FileWork* const> files) override {
    const int now = ++ledger_.stacks_now;
    int most = ledger_.max_stacks;
    while (now > most && !ledger_.max_stacks.compare_exchange_weak(most, now)) {
    }
    std::vector<const FileWork*> left;
    if (ledger_.stacks_fail) throw Error("too much", ExitCode::file_failed);
    std::lock_guard lock(ledger_.mutex);
    auto& stack = ledger_.stacks.emplace_back();
    for (FileWork* file : files) {
      auto* made = static_cast<MadeUp*>(file);
      if (ledger_.left.count(made->index_)) {
        left.push_back(made);
        continue;
      }
      made->step(Part::compute);
      stack.push_back(made->index_);
    }
    --ledger_.stacks_now;
    return left;
  }
  void encode() override {
    step(Part::encode);
    ++ledger_.encoded;
    if (index_ == ledger_.stop_at) ledger_.stop = true;
  }
  bool may_repeat() const override { return ledger_.repeats; }
  void release() override {
    ++ledger_.released;
    if (holds_) --ledger_.in_flight;
  }

 private:
  void step(Part part) {
    // The parts come in their order, each once.
    EXPECT_EQ(static_cast<int>(part), next_++) << index_;
    std::this_thread::sleep_for(std::chrono::microseconds(ledger_.microseconds));
    const auto slow = ledger_.slow.find(index_);
    if (slow != ledger_.slow.end() && slow->second.first == part) {
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(slow->second.second);
      while (std::chrono::steady_clock::now() < end && !ledger_.awake &&
             !(ledger_.asks && is_late())) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    const auto fails = ledger_.fails.find(index_);
    if (fails == ledger_.fails.end() || fails->second != part) return;
    std::lock_guard lock(ledger_.mutex);
    const auto passes = ledger_.passes.find(index_);
    if (passes == ledger_.passes.end()) throw Error("broken", ExitCode::file_failed);
    if (passes->second-- > 0) throw Error("busy", ExitCode::file_failed, true);
  }
  Ledger& ledger_;
  std::int64_t index_;
  int next_ = 0;
  bool holds_ = false;
};

struct Told {
  std::vector<std::int64_t> order;
  std::map<std::int64_t, std::string> failures;
  std::map<std::int64_t, int> tries;
  BatchEnd end;
};

constexpr auto no_pause = [](int) { return std::chrono::milliseconds(1); };

// Never destroyed: threads that are left alone beside one that hangs may still look for tiles to
// help with when the batch has ended, on a busy machine.
ThreadPool& kept_pool() {
  static auto* kept = new std::vector<std::unique_ptr<ThreadPool>>;
  return *kept->emplace_back(std::make_unique<ThreadPool>(0));
}

Told run(Ledger& ledger, std::int64_t count, BatchOptions options) {
  ThreadPool& pool = kept_pool();
  Told told;
  options.stop = [&] { return ledger.stop.load(); };
  told.end = run_batch(
      count, [&](std::int64_t i) { return std::make_unique<MadeUp>(ledger, i); }, options, pool,
      [&](std::int64_t index, const FileWork*, const FileEnd& end) {
        told.order.push_back(index);
        told.tries[index] = end.tries;
        if (end.state == FileEnd::State::failed) {
          told.failures[index] = std::string(name_of(end.part)) + ": " + end.message;
        }
        return true;
      });
  return told;
}

TEST(Batch, ComputesWhatIsAlikeTogether) {
  for (int threads : {1, 3}) {
    Ledger ledger;
    ledger.stacked = 8;
    const Told told = run(ledger, 100, {.threads = threads, .in_flight = threads + 1});
    EXPECT_EQ(told.end.done, 100);
    EXPECT_EQ(ledger.encoded, 100);
    std::set<std::int64_t> seen;
    size_t full = 0;
    for (const auto& stack : ledger.stacks) {
      EXPECT_LE(stack.size(), 8u);
      full += stack.size() == 8 ? 1 : 0;
      for (const std::int64_t index : stack) {
        EXPECT_EQ(index % 2, stack.front() % 2);
        EXPECT_TRUE(seen.insert(index).second) << index;
      }
    }
    EXPECT_EQ(static_cast<int>(seen.size()) + ledger.alone, 100);
    EXPECT_GE(full, 8u);  // of at most 12
  }
}

TEST(Batch, WaitsForWhatIsBeingDecodedRatherThanComputePartOfAStack) {
  Ledger ledger;
  ledger.stacked = 40;
  const Told told = run(ledger, 400, {.threads = 8, .in_flight = 5});
  EXPECT_EQ(told.end.done, 400);
  // Ten are full; parts are taken at the end, or where no slot is free and nothing is decoded.
  EXPECT_LE(static_cast<int>(ledger.stacks.size()) + ledger.alone, 15);
}

TEST(Batch, DoesAFileOnceMoreWhoseFailureMayPass) {
  for (const int threads : {1, 4}) {
    for (const Part part : {Part::prepare, Part::decode, Part::compute, Part::encode}) {
      Ledger ledger;
      for (const int index : {0, 3, 4, 9}) ledger.fails[index] = part;
      ledger.passes = {{0, 2}, {3, 1}, {4, 3}};
      const Told told =
          run(ledger, 10, {.threads = threads, .in_flight = 2, .retries = 2, .pause = no_pause});
      EXPECT_EQ(told.order, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
      const std::string where(name_of(part));
      EXPECT_EQ(told.failures, (std::map<std::int64_t, std::string>{{4, where + ": busy"},
                                                                    {9, where + ": broken"}}));
      EXPECT_EQ(told.end.done, 8);
      EXPECT_EQ(told.end.failed, 2);
      EXPECT_EQ((std::vector{told.tries.at(0), told.tries.at(1), told.tries.at(3), told.tries.at(4),
                             told.tries.at(9)}),
                (std::vector{3, 1, 2, 3, 1}));
      EXPECT_EQ(ledger.released, 10 + 2 + 1 + 2);
      EXPECT_EQ(ledger.in_flight, 0);
    }
  }
}

TEST(Batch, DoesNoFileOnceMoreThatIsUsedUpOrAfterAStop) {
  Ledger ledger;
  ledger.repeats = false;
  ledger.fails = {{0, Part::decode}};
  ledger.passes = {{0, 1}};
  EXPECT_EQ(run(ledger, 2, {.retries = 5, .pause = no_pause}).failures,
            (std::map<std::int64_t, std::string>{{0, "decode: busy"}}));
  Ledger stopped;
  stopped.fails = {{0, Part::decode}};
  stopped.passes = {{0, 1}};
  stopped.stop_at = 1;
  const Told told =
      run(stopped, 2,
          {.retries = 5, .pause = [](int) { return std::chrono::milliseconds(1'000'000); }});
  EXPECT_TRUE(told.end.stopped);
  EXPECT_EQ(told.order, (std::vector<std::int64_t>{1}));
}

TEST(Batch, OnlyTheLastTryStopsABatchThatFailsFast) {
  Ledger ledger;
  ledger.fails = {{0, Part::compute}, {5, Part::compute}};
  ledger.passes = {{0, 1}, {5, 2}};
  const BatchOptions options{.fail_fast = true, .retries = 1, .pause = no_pause};
  const Told told = run(ledger, 6, options);
  EXPECT_EQ(told.end.done, 5);
  EXPECT_EQ(told.failures, (std::map<std::int64_t, std::string>{{5, "compute: busy"}}));
}

TEST(Batch, AFileThatTakesTooLongFailsAlone) {
  for (const bool asks : {true, false}) {
    for (const Part part : {Part::prepare, Part::decode, Part::compute}) {
      Ledger ledger;
      ledger.slow = {{2, {part, asks ? 60'000 : 400}}};
      ledger.asks = asks;
      const Told told = run(ledger, 6, {.threads = 2, .timeout = 0.2, .grace = 60});
      const std::string message =
          std::string(name_of(part)) + ": it took longer than 0.2 s (--timeout)";
      EXPECT_EQ(told.failures, (std::map<std::int64_t, std::string>{{2, message}}));
      EXPECT_EQ(told.end.done, 5);
      EXPECT_EQ(ledger.in_flight, 0);
    }
  }
}

TEST(Batch, TheTimeOfAFileIsThatOfItsParts) {
  Ledger ledger;
  ledger.microseconds = 160'000;  // each of four parts
  EXPECT_EQ(run(ledger, 1, {.timeout = 0.4}).failures.size(), 1u);
  Ledger quick;
  quick.microseconds = 50'000;
  quick.fails = {{0, Part::encode}};
  quick.passes = {{0, 2}};  // each try has its own
  EXPECT_EQ(run(quick, 1, {.retries = 2, .pause = no_pause, .timeout = 0.4}).end.done, 1);
  Ledger written;  // what is done at last is done
  written.slow = {{0, {Part::encode, 500}}};
  EXPECT_EQ(run(written, 1, {.timeout = 0.3, .grace = 60}).end.done, 1);
}

// Outlives the batch and is never destroyed, as what a thread uses that hangs has to be.
std::vector<std::unique_ptr<Ledger>>& kept_ledgers() {
  static auto* kept = new std::vector<std::unique_ptr<Ledger>>;
  return *kept;
}
Ledger& kept_ledger() { return *kept_ledgers().emplace_back(std::make_unique<Ledger>()); }

void wake_kept_ledgers() {
  for (const auto& ledger : kept_ledgers()) ledger->awake = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

TEST(Batch, AThreadThatHangsIsReplaced) {
  for (const int threads : {1, 3}) {
    for (const Part part : {Part::prepare, Part::decode, Part::compute, Part::encode}) {
      Ledger& ledger = kept_ledger();
      ledger.slow = {{0, {part, 60'000}}, {4, {part, 60'000}}};
      const auto begin = std::chrono::steady_clock::now();
      const Told told = run(ledger, 9, {.threads = threads, .timeout = 0.2, .grace = 0.1});
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
      EXPECT_EQ(told.order, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
      const std::string message =
          std::string(name_of(part)) + ": it took longer than 0.2 s (--timeout)";
      EXPECT_EQ(told.failures, (std::map<std::int64_t, std::string>{{0, message}, {4, message}}));
      EXPECT_EQ(told.end.done, 7);
      EXPECT_TRUE(threads_hang());
    }
  }
  wake_kept_ledgers();
}

TEST(Batch, WhenAllHangTheBatchEnds) {
  Ledger& ledger = kept_ledger();
  for (int i = 0; i < 200; ++i) ledger.slow[i] = {Part::decode, 60'000};
  try {
    run(ledger, 200, {.threads = 8, .in_flight = 8, .timeout = 0.05, .grace = 0.05});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "more than 64 files hang, and so does the rest");
  }
  wake_kept_ledgers();
}

TEST(Batch, PausesGrowToHalfAMinute) {
  std::vector<std::int64_t> pauses;
  for (int tries = 1; tries <= 9; ++tries) pauses.push_back(retry_pause(tries).count());
  EXPECT_EQ(pauses,
            (std::vector<std::int64_t>{500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000}));
}

TEST(Batch, AStackThatFailsIsComputedFileByFile) {
  Ledger ledger;
  ledger.stacked = 4;
  ledger.stacks_fail = true;
  ledger.fails[5] = Part::compute;
  const Told told = run(ledger, 20, {.threads = 2, .in_flight = 3});
  EXPECT_EQ(told.end.done, 19);
  EXPECT_EQ(told.failures.size(), 1u);
  EXPECT_TRUE(told.failures.contains(5));
  EXPECT_EQ(ledger.alone, 20);
}

TEST(Batch, WhatAStackLeavesIsComputedAlone) {
  Ledger ledger;
  ledger.stacked = 4;
  ledger.left = {3, 8};
  ledger.fails[8] = Part::compute;
  const Told told = run(ledger, 20, {.threads = 2, .in_flight = 3});
  EXPECT_EQ(told.end.done, 19);
  EXPECT_EQ(told.failures.size(), 1u);
  EXPECT_TRUE(told.failures.contains(8));
}

TEST(Batch, NoMoreStacksRunAtOnceThanTheyWant) {
  for (const int stacked : {1, 4}) {
    Ledger ledger;
    ledger.stacked = stacked;
    ledger.at_once = 2;
    const Told told = run(ledger, 60, {.threads = 8, .in_flight = 10});
    EXPECT_EQ(told.end.done, 60);
    EXPECT_LE(ledger.max_stacks, 2);
  }
}

TEST(Batch, ReportsInTheOrderOfTheInput) {
  for (int threads : {1, 2, 7}) {
    Ledger ledger;
    const Told told = run(ledger, 100, {.threads = threads, .in_flight = threads + 1});
    ASSERT_EQ(told.order.size(), 100u);
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(told.order[i], i);
    EXPECT_EQ(told.end.done, 100);
    EXPECT_EQ(ledger.encoded, 100);
    EXPECT_EQ(ledger.released, 100);
    EXPECT_FALSE(ledger.lane_shared);
    EXPECT_FALSE(told.end.stopped);
  }
}

TEST(Batch, NoFilesIsNoWork) {
  Ledger ledger;
  EXPECT_EQ(run(ledger, 0, {.threads = 3}).end.done, 0);
}

TEST(Batch, AFailureInAnyPartFailsThatFileAlone) {
  Ledger ledger;
  ledger.fails = {{3, Part::prepare}, {8, Part::decode}, {11, Part::encode}};
  ledger.skips = {5, 29};
  const Told told = run(ledger, 30, {.threads = 3, .in_flight = 5});
  EXPECT_EQ(told.failures,
            (std::map<std::int64_t, std::string>{
                {3, "decode: broken"}, {8, "decode: broken"}, {11, "encode: broken"}}));
  EXPECT_EQ(told.order.size(), 30u);
  EXPECT_EQ(told.end.failed, 3);
  EXPECT_EQ(told.end.skipped, 2);
  EXPECT_EQ(told.end.done, 25);
  EXPECT_EQ(ledger.released, 30);
}

TEST(Batch, AFailureInComputeIsNamed) {
  Ledger ledger;
  ledger.fails = {{0, Part::compute}};
  const Told told = run(ledger, 1, {.threads = 1});
  EXPECT_EQ(told.failures, (std::map<std::int64_t, std::string>{{0, "compute: broken"}}));
}

TEST(Batch, FailFastStopsAndStillReportsTheFailure) {
  Ledger ledger;
  ledger.fails = {{4, Part::decode}};
  const Told told = run(ledger, 1000, {.threads = 2, .in_flight = 3, .fail_fast = true});
  EXPECT_EQ(told.failures, (std::map<std::int64_t, std::string>{{4, "decode: broken"}}));
  EXPECT_LT(told.end.done, 20);
  EXPECT_TRUE(told.end.stopped);
}

TEST(Batch, BoundsTheFilesInFlight) {
  Ledger ledger;
  run(ledger, 60, {.threads = 6, .in_flight = 3});
  EXPECT_LE(ledger.max_in_flight, 3);
  EXPECT_GE(ledger.max_in_flight, 2);
}

TEST(Batch, BoundsTheBytesInFlight) {
  Ledger ledger;
  run(ledger, 60, {.threads = 6, .in_flight = 8, .memory = 29});
  EXPECT_LE(ledger.max_in_flight, 2);
  // One file alone may have more than the bound.
  Ledger huge;
  const Told told = run(huge, 20, {.threads = 6, .in_flight = 8, .memory = 5});
  EXPECT_EQ(huge.max_in_flight, 1);
  EXPECT_EQ(told.end.done, 20);
}

// As when the system lets none start.
TEST(Batch, WithoutThreadsTheCallerDoesAll) {
  for (const int stacked : {1, 8}) {
    Ledger ledger;
    ledger.stacked = stacked;
    ledger.fails = {{3, Part::decode}, {5, Part::encode}};
    ledger.skips = {4};
    const Told told = run(ledger, 40, {.threads = 0, .in_flight = 2});
    EXPECT_EQ(told.end.done, 37);
    EXPECT_EQ(told.end.skipped, 1);
    EXPECT_EQ(told.end.threads, 1);
    EXPECT_EQ(told.failures,
              (std::map<std::int64_t, std::string>{{3, "decode: broken"}, {5, "encode: broken"}}));
    EXPECT_TRUE(std::is_sorted(told.order.begin(), told.order.end()));
    EXPECT_EQ(ledger.released, 40);
  }
  Ledger ledger;
  ledger.stop_at = 10;
  const Told told = run(ledger, 100, {.threads = 0, .in_flight = 2});
  EXPECT_TRUE(told.end.stopped);
  EXPECT_LE(told.end.done, 12);
}

// What a library may throw: no exception but fails its file, with no memory for the work on it too.
class Throws : public FileWork {
 public:
  explicit Throws(std::int64_t index) : index_(index) {}
  std::optional<std::int64_t> prepare() override {
    if (index_ == 1) throw std::bad_alloc();
    return 1;
  }
  void decode() override {
    if (index_ == 2) throw std::length_error("vector::reserve");
    if (index_ == 3) throw 7;
  }
  void compute(int) override {
    if (index_ == 4) throw std::bad_alloc();
  }
  void encode() override {
    if (index_ == 5) throw "text";
  }
  void release() override {}

 private:
  std::int64_t index_;
};

TEST(Batch, WhateverIsThrownFailsItsFileAlone) {
  for (const int threads : {0, 1, 3}) {
    ThreadPool pool(0);
    std::map<std::int64_t, std::string> failures;
    const BatchEnd end = run_batch(
        20,
        [&](std::int64_t i) {
          if (i == 0) throw std::bad_alloc();
          return std::make_unique<Throws>(i);
        },
        {.threads = threads, .in_flight = threads + 1}, pool,
        [&](std::int64_t index, const FileWork* work, const FileEnd& file_end) {
          EXPECT_EQ(work == nullptr, index == 0);
          if (file_end.state == FileEnd::State::failed) failures[index] = file_end.message;
          return true;
        });
    EXPECT_EQ(end.done, 14);
    EXPECT_EQ(failures, (std::map<std::int64_t, std::string>{{0, "out of memory"},
                                                             {1, "out of memory"},
                                                             {2, "vector::reserve"},
                                                             {3, "an error of an unknown kind"},
                                                             {4, "out of memory"},
                                                             {5, "an error of an unknown kind"}}));
  }
}

// Files that another thread has in hand when the stop comes are not done.
TEST(Batch, StopsWhenAsked) {
  Ledger ledger;
  ledger.stop_at = 10;
  const Told told = run(ledger, 10'000, {.threads = 3, .in_flight = 5});
  EXPECT_TRUE(told.end.stopped);
  EXPECT_LT(told.end.done, 30);
  EXPECT_GE(told.end.done, 10 - 2);
}

// What is in work then is done, and nothing else is begun; one that waits for another try has it.
TEST(Batch, EndsWithWhatIsInWork) {
  for (const int threads : {0, 1, 3}) {
    Ledger ledger;
    ledger.stop_at = 10;
    ThreadPool pool(0);
    std::vector<std::int64_t> order;
    const BatchEnd end = run_batch(
        10'000, [&](std::int64_t i) { return std::make_unique<MadeUp>(ledger, i); },
        {.threads = threads,
         .in_flight = threads + 2,
         .no_more = [&] { return ledger.stop.load(); },
         .first_lane = 5},
        pool,
        [&](std::int64_t index, const FileWork*, const FileEnd& file_end) {
          EXPECT_EQ(file_end.state, FileEnd::State::done);
          order.push_back(index);
          return true;
        });
    EXPECT_FALSE(end.stopped);
    EXPECT_GE(end.done, 10);
    EXPECT_LT(end.done, 5'000);
    EXPECT_EQ(end.failed, 0);
    EXPECT_EQ(end.done, ledger.encoded);
    for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(order.size(), static_cast<size_t>(end.done));
  }
}

TEST(Batch, WhenItEndsNoFileWaitsForItsNextTry) {
  Ledger ledger;
  ledger.fails = {{1, Part::decode}};
  ledger.passes = {{1, 1}};
  ledger.slow = {{0, {Part::compute, 300}}};
  ThreadPool pool(0);
  bool end_now = false;
  const auto begin = std::chrono::steady_clock::now();
  const BatchEnd end = run_batch(
      2, [&](std::int64_t i) { return std::make_unique<MadeUp>(ledger, i); },
      {.threads = 2,
       .in_flight = 3,
       .retries = 3,
       .pause = [](int) { return std::chrono::milliseconds(60'000); },
       .no_more = [&] { return end_now; }},
      pool,
      [&](std::int64_t index, const FileWork*, const FileEnd&) {
        end_now = end_now || index == 0;
        return true;
      });
  EXPECT_EQ(end.done, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Batch, AReportThatReturnsFalseStops) {
  Ledger ledger;
  ThreadPool pool(0);
  int told = 0;
  const BatchEnd end = run_batch(
      10'000, [&](std::int64_t i) { return std::make_unique<MadeUp>(ledger, i); },
      {.threads = 2, .in_flight = 3}, pool,
      [&](std::int64_t, const FileWork*, const FileEnd&) { return ++told < 5; });
  EXPECT_EQ(told, 5);
  EXPECT_TRUE(end.stopped);
}

// One file's loop over tiles is shared by the threads that have no file of their own.
class Tiled : public FileWork {
 public:
  Tiled(ThreadPool& pool, std::mutex& mutex, std::set<std::thread::id>& threads)
      : pool_(pool), mutex_(mutex), threads_(threads) {}
  std::optional<std::int64_t> prepare() override { return 1; }
  void decode() override {}
  void compute(int) override {
    pool_.for_each(64, [&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::lock_guard lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    });
  }
  void encode() override {}
  void release() override {}

 private:
  ThreadPool& pool_;
  std::mutex& mutex_;
  std::set<std::thread::id>& threads_;
};

TEST(Batch, IdleThreadsHelpWithTheTilesOfARunningImage) {
  ThreadPool pool(0);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const BatchEnd end = run_batch(
      1, [&](std::int64_t) { return std::make_unique<Tiled>(pool, mutex, threads); },
      {.threads = 4, .in_flight = 5}, pool,
      [](std::int64_t, const FileWork*, const FileEnd&) { return true; });
  EXPECT_EQ(end.done, 1);
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_GT(end.times.help, 0.01);
}

}  // namespace
}  // namespace impipe::engine
