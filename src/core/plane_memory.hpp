// The memory of planes: blocks that are kept for the next image, and the locks that let a device
// read and write a block by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/image.hpp"

namespace impipe {

// Keeps a block's pages at their place, for a device's transfers. Goes before the memory does.
class PageLock {
 public:
  virtual ~PageLock() = default;
  // Of whose transfers; null when its devices are closed, so that the lock is of no use.
  virtual const void* owner() const = 0;
};

// Memory that planes share, of a size class.
struct PlaneBlock {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  // The rest is for whoever makes locks: bytes that were copied on their way to or from a device,
  // whether somebody is making a lock, and the lock.
  std::int64_t copied = 0;
  bool locking = false;
  std::unique_ptr<PageLock> lock;

  ~PlaneBlock();
};

// Of a plane that has pixels; there as long as the plane is.
PlaneBlock& block_of(const Plane& plane);

// Lets go of the locks that are of no use, as far as their blocks are kept for the next image; the
// others go when the last plane of their block does.
void drop_useless_locks();

}  // namespace impipe
