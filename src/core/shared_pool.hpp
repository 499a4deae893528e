// The threads of the run, for loops of functions that are given no pool: those of codecs.
#pragma once

#include <cstdint>
#include <functional>

#include "core/thread_pool.hpp"

namespace impipe {

// Lends a pool to for_each_shared while it exists.
class SharedPool {
 public:
  explicit SharedPool(ThreadPool& pool);
  ~SharedPool();
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

 private:
  ThreadPool* pool_;
};

// ThreadPool::for_each of the pool that was lent last; on the calling thread alone without one.
void for_each_shared(std::int64_t count, const std::function<void(std::int64_t)>& body);

}  // namespace impipe
