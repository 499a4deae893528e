#include "core/shared_pool.hpp"

#include <atomic>

namespace impipe {
namespace {

std::atomic<ThreadPool*> shared = nullptr;

}  // namespace

SharedPool::SharedPool(ThreadPool& pool) : pool_(&pool) { shared = pool_; }

SharedPool::~SharedPool() { shared.compare_exchange_strong(pool_, nullptr); }

void for_each_shared(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (ThreadPool* const pool = shared) {
    pool->for_each(count, body);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace impipe
