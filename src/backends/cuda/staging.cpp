#include "backends/cuda/staging.hpp"

namespace impipe::cuda {

OwnedEvent::OwnedEvent(unsigned flags) {
  check(driver().api.event_create(&event_, flags), "cuEventCreate");
}
OwnedEvent::~OwnedEvent() { driver().api.event_destroy(event_); }

StagingPool::Piece::Piece(std::size_t bytes) : memory(bytes), done(event_without_time) {}

void StagingPool::Lease::record(Stream stream) {
  check(driver().api.event_record(piece_->done.get(), stream), "cuEventRecord");
}

void StagingPool::Lease::wait() const {
  check(driver().api.event_wait(piece_->done.get()), "cuEventSynchronize");
}

StagingPool::StagingPool(std::shared_ptr<const DeviceContext> context)
    : context_(std::move(context)) {}

StagingPool::~StagingPool() {
  context_->try_use();
  small_.free.clear();
  large_.free.clear();
}

// The free piece that the device has done with, else a new one, else one to wait for.
std::optional<StagingPool::Lease> StagingPool::take_now(Size& size,
                                                        std::unique_lock<std::mutex>& lock) {
  std::deque<std::unique_ptr<Piece>>& free = size.free;
  const bool may_make = size.made < max_pieces;
  const bool ready =
      !free.empty() && driver().api.event_query(free.front()->done.get()) != error_not_ready;
  if (!ready && may_make) {
    ++size.made;
    lock.unlock();
    try {
      return Lease(*this, std::make_unique<Piece>(size.bytes));
    } catch (...) {
      lock.lock();
      --size.made;
      given_back_.notify_all();
      throw;
    }
  }
  if (free.empty()) return std::nullopt;
  Lease lease(*this, std::move(free.front()));
  free.pop_front();
  lock.unlock();
  lease.wait();
  return lease;
}

StagingPool::Lease StagingPool::take(std::size_t bytes) {
  if (bytes > largest) return {*this, std::make_unique<Piece>(bytes)};
  std::unique_lock lock(mutex_);
  Size& size = size_for(bytes);
  while (true) {
    if (auto lease = take_now(size, lock)) return std::move(*lease);
    given_back_.wait(lock);
  }
}

std::optional<StagingPool::Lease> StagingPool::try_take(std::size_t bytes) {
  if (bytes > largest) return std::nullopt;
  std::unique_lock lock(mutex_);
  return take_now(size_for(bytes), lock);
}

void StagingPool::give_back(std::unique_ptr<Piece> piece) {
  if (piece->memory.bytes() > largest) {
    driver().api.event_wait(piece->done.get());  // not checked: an error may be on its way
    return;
  }
  {
    std::lock_guard lock(mutex_);
    size_for(piece->memory.bytes()).free.push_back(std::move(piece));
  }
  given_back_.notify_all();
}

}  // namespace impipe::cuda
