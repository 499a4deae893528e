// Which blocks of the host's memory a driver reads and writes by itself.
//
// Transfers of other memory are copied once more, at a tenth of the link's speed. To lock pages
// that are there costs less than that copy, a third of it with large pages, and is done once:
// blocks are used again from image to image and keep their lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/plane_memory.hpp"

namespace impipe::jit {

class PageLocks : public std::enable_shared_from_this<PageLocks> {
 public:
  // Locks memory until the result goes; null where that is not possible.
  using Lock = std::function<std::shared_ptr<void>(std::byte* data, std::int64_t bytes)>;
  static std::shared_ptr<PageLocks> make(Lock lock) {
    return std::shared_ptr<PageLocks>(new PageLocks(std::move(lock)));
  }

  // For as long as a device is open. Blocks outlive it, their locks go when no device is left.
  class Use {
   public:
    explicit Use(std::shared_ptr<PageLocks> locks);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::shared_ptr<PageLocks> locks_;
  };

  // Whether the plane's memory is locked. Does so where that pays: not for small images that come
  // once, and of the machine's memory no more than a quarter. Any thread.
  bool covers(const Plane& plane);

 private:
  class Held;
  explicit PageLocks(Lock lock);

  Lock lock_;
  std::int64_t most_;  // bytes
  std::atomic<std::int64_t> locked_ = 0;
  std::atomic<int> uses_ = 0;
  std::atomic<bool> refused_ = false;  // by the system: it is not asked again
};

}  // namespace impipe::jit
