// Loops spread over threads: indices are handed out one by one, so uneven ones balance.
#include "core/thread_pool.hpp"

#include <exception>

#include "core/interruption.hpp"
#include "core/threads.hpp"

namespace impipe {

struct ThreadPool::Loop {
  const std::function<void(std::int64_t)>* body = nullptr;
  const std::function<bool()>* stop = Interruptible::current();
  std::int64_t count = 0;
  std::int64_t next = 0;  // guarded by mutex_
  int inside = 0;         // threads working on it, guarded by mutex_
  std::exception_ptr error;
};

ThreadPool::ThreadPool(int helpers) : threads_(start_threads(helpers, [this](int) { serve(); })) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void ThreadPool::work(Loop& loop) {
  const Interruptible interruptible(loop.stop);
  std::unique_lock lock(mutex_);
  ++loop.inside;
  while (loop.next < loop.count) {
    const std::int64_t i = loop.next++;
    lock.unlock();
    std::exception_ptr error;
    try {
      check_interruption();
      (*loop.body)(i);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      loop.error = error;
      loop.next = loop.count;
    }
  }
  --loop.inside;
  changed_.notify_all();
}

void ThreadPool::for_each(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (count <= 0) return;
  Loop loop;
  loop.body = &body;
  loop.count = count;
  std::list<Loop*>::iterator place;
  {
    std::lock_guard lock(mutex_);
    place = loops_.insert(loops_.end(), &loop);
    // Not after set_wake has returned: what it calls may be gone then.
    if (count > 1 && wake_) wake_();
  }
  if (count > 1) changed_.notify_all();
  work(loop);
  std::unique_lock lock(mutex_);
  loops_.erase(place);
  changed_.wait(lock, [&] { return loop.inside == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

bool ThreadPool::help() {
  Loop* found = nullptr;
  {
    std::lock_guard lock(mutex_);
    for (Loop* loop : loops_) {
      if (loop->next < loop->count) {
        found = loop;
        ++loop->inside;  // keeps the loop alive until work() has its own count
        break;
      }
    }
  }
  if (found == nullptr) return false;
  work(*found);
  std::lock_guard lock(mutex_);
  --found->inside;
  changed_.notify_all();
  return true;
}

void ThreadPool::set_wake(std::function<void()> wake) {
  std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void ThreadPool::serve() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        if (stop_) return true;
        for (Loop* loop : loops_) {
          if (loop->next < loop->count) return true;
        }
        return false;
      });
      if (stop_) return;
    }
    help();
  }
}

}  // namespace impipe
