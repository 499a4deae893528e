// Loops spread over threads. Whoever starts a loop works on it; workers that have nothing else to
// do help.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace impipe {

class ThreadPool {
 public:
  // `helpers` threads of its own beside those that call for_each; fewer when the system refuses.
  explicit ThreadPool(int helpers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls body(i) once for each i in [0, count), in any order, from several threads; returns when
  // all are done. If calls throw, one of the exceptions is thrown on when the others have ended.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& body);

  // Takes part in a loop that another thread runs; false when there was none. For threads that
  // wait for other work (engine/batch). `wake` is called when a loop starts.
  bool help();
  void set_wake(std::function<void()> wake);

  int helpers() const { return static_cast<int>(threads_.size()); }

 private:
  struct Loop;
  void work(Loop& loop);
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Loop*> loops_;
  std::function<void()> wake_;
  bool stop_ = false;
  std::vector<std::thread> threads_;  // the last to be made: they use the others
};

}  // namespace impipe
