#include "backends/jit/runtime/page_locks.hpp"

#include <mutex>
#include <utility>

#include "core/process_limits.hpp"

namespace impipe::jit {
namespace {

// Bytes of a block that were copied before it is locked: it has to be large or to come again.
constexpr std::int64_t enough_copied = 4 << 20;
// Smaller planes are sent and fetched together.
constexpr std::int64_t min_bytes = 256 << 10;

// Of the locks of all blocks.
std::mutex& block_mutex() {
  static auto* mutex = new std::mutex;  // planes may outlive static destructors
  return *mutex;
}

}  // namespace

class PageLocks::Held final : public PageLock {
 public:
  // Throws bad_alloc. Without `lock` where the system refuses.
  Held(std::shared_ptr<PageLocks> locks, const PlaneBlock& block)
      : locks_(std::move(locks)),
        bytes_(block.bytes),
        lock(locks_->lock_(block.data, block.bytes)) {
    locks_->locked_ += bytes_;
  }
  ~Held() override { locks_->locked_ -= bytes_; }
  const void* owner() const override { return locks_->uses_ > 0 ? locks_.get() : nullptr; }

 private:
  std::shared_ptr<PageLocks> locks_;
  std::int64_t bytes_;

 public:
  const std::shared_ptr<void> lock;
};

PageLocks::Use::Use(std::shared_ptr<PageLocks> locks) : locks_(std::move(locks)) {
  ++locks_->uses_;
}

PageLocks::Use::~Use() {
  --locks_->uses_;
  drop_useless_locks();
}

PageLocks::PageLocks(Lock lock) : lock_(std::move(lock)), most_(process_limits().memory / 4) {}

bool PageLocks::covers(const Plane& plane) {
  const std::int64_t bytes = plane.row_bytes() * plane.size().height;
  if (bytes < min_bytes) return false;
  PlaneBlock& block = block_of(plane);
  {
    const std::lock_guard guard(block_mutex());
    if (block.locking) return false;
    if (block.lock != nullptr) return block.lock->owner() == this;
    block.copied += bytes;
    if (block.copied < enough_copied || refused_ || locked_ + block.bytes > most_) return false;
    block.locking = true;
  }
  std::unique_ptr<Held> held;
  try {
    held = std::make_unique<Held>(shared_from_this(), block);
    if (held->lock == nullptr) held.reset();
  } catch (const std::bad_alloc&) {
  }
  refused_ = held == nullptr;
  const std::lock_guard guard(block_mutex());
  block.locking = false;
  block.lock = std::move(held);
  return block.lock != nullptr;
}

}  // namespace impipe::jit
