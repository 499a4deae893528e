// Planes and the allocator behind them, which keeps freed memory for the next image: a fresh
// mapping costs a page fault every 4 KiB, more than most operators take for those bytes.
#include "core/image.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/error.hpp"
#include "core/plane_bytes.hpp"
#include "core/plane_memory.hpp"
#include "core/test_fill.hpp"

namespace impipe {
namespace {

constexpr std::int64_t row_alignment = 64;
// Vector code may read up to this far past the last pixel.
constexpr std::int64_t tail_padding = 64;
// Blocks of two of them or more are put there where the system has such pages.
constexpr std::int64_t large_page = 2 << 20;

class RecyclingAllocator {
 public:
  // Null when memory is out.
  PlaneBlock* take(std::int64_t bytes) {
    const std::int64_t size = size_class(bytes);
    {
      std::lock_guard lock(mutex_);
      auto& list = free_[size];
      now_ += size;
      peak_ = std::max(peak_, now_);
      if (!list.empty()) {
        PlaneBlock* block = list.back();
        list.pop_back();
        kept_ -= size;
        return block;
      }
    }
    std::unique_ptr<PlaneBlock> block = new_block(size);
    std::lock_guard lock(mutex_);
    if (block == nullptr || !remember(*block)) {
      now_ -= size;
      return nullptr;
    }
    return block.release();
  }

  PlaneBlock* block_of(const std::byte* memory) {
    std::lock_guard lock(mutex_);
    return std::prev(blocks_.upper_bound(memory))->second;
  }

  void give(PlaneBlock* block) noexcept {
    const std::int64_t size = block->bytes;
    if (is_useless(*block)) block->lock.reset();
    {
      std::lock_guard lock(mutex_);
      now_ -= size;
      // Never keep more than was once needed at the same time.
      if (kept_ + now_ + size <= peak_) {
        try {
          free_[size].push_back(block);
          kept_ += size;
          return;
        } catch (const std::bad_alloc&) {  // no memory to remember it by
        }
      }
      blocks_.erase(block->data);
    }
    delete block;
  }

  MemoryUse use() {
    std::lock_guard lock(mutex_);
    return {now_, peak_};
  }

  void release() {
    std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_) {
      for (PlaneBlock* block : list) {
        blocks_.erase(block->data);
        delete block;
      }
      list.clear();
    }
    kept_ = 0;
    peak_ = now_;
  }

  void drop_useless_locks() {
    std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_) {
      for (PlaneBlock* block : list) {
        if (is_useless(*block)) block->lock.reset();
      }
    }
  }

 private:
  // Eight classes to a power of two, so that images of nearly equal size share memory and at most
  // an eighth is wasted.
  static std::int64_t size_class(std::int64_t bytes) {
    std::int64_t step = 4096;
    while (step * 16 < bytes) step *= 2;
    return (bytes + step - 1) / step * step;
  }

  static std::unique_ptr<PlaneBlock> new_block(std::int64_t size) {
    const bool large = size >= 2 * large_page;
    std::unique_ptr<PlaneBlock> block(new (std::nothrow) PlaneBlock);
    void* data = nullptr;
    if (block == nullptr ||
        posix_memalign(&data, large ? large_page : 4096, static_cast<size_t>(size)) != 0) {
      return nullptr;
    }
#ifdef __linux__
    if (large) madvise(data, static_cast<size_t>(size), MADV_HUGEPAGE);
#endif
    block->data = static_cast<std::byte*>(data);
    block->bytes = size;
    return block;
  }

  bool remember(PlaneBlock& block) noexcept {
    try {
      blocks_.emplace(block.data, &block);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  static bool is_useless(const PlaneBlock& block) {
    return block.lock != nullptr && block.lock->owner() == nullptr;
  }

  std::mutex mutex_;
  std::map<std::int64_t, std::vector<PlaneBlock*>> free_;
  std::map<const std::byte*, PlaneBlock*> blocks_;  // by their memory, used and kept
  std::int64_t now_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t kept_ = 0;
};

RecyclingAllocator& allocator() {
  static auto* instance = new RecyclingAllocator;  // planes may outlive static destructors
  return *instance;
}

}  // namespace

std::string_view name_of(PixelClass c) {
  switch (c) {
    case PixelClass::logical: return "logical";
    case PixelClass::uint8: return "uint8";
    case PixelClass::uint16: return "uint16";
    case PixelClass::single: return "single";
  }
  return "?";
}

std::string to_string(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::string to_string(const ImageType& type) {
  std::string out(name_of(type.cls));
  out += " x" + std::to_string(type.channels);
  if (type.alpha) out += " + alpha";
  if (type.white == 0) return out + ", no white";
  std::string white = std::to_string(type.white);
  white.erase(white.find_last_not_of('0') + 1);
  if (white.back() == '.') white.pop_back();
  return out + ", white " + white;
}

std::int64_t plane_stride(std::int64_t row_bytes) {
  if (row_bytes < row_alignment) return row_bytes;
  const std::int64_t stride = (row_bytes + row_alignment - 1) / row_alignment * row_alignment;
  // A stride of a large power of two would map a column of rows to one cache set.
  return stride >= 1024 && (stride & (stride - 1)) == 0 ? stride + row_alignment : stride;
}

Plane::Plane(PixelClass cls, Size size) : Plane(new_planes(cls, 1, size).front()) {}

Planes new_planes(PixelClass cls, int channels, Size size) {
  Planes planes(static_cast<size_t>(channels));
  const std::int64_t stride = plane_stride(size.width * bytes_of(cls));
  const std::int64_t each =
      (stride * size.height + tail_padding + row_alignment - 1) / row_alignment * row_alignment;
  const std::int64_t total = channels * each;
  PlaneBlock* taken = allocator().take(total);
  if (taken == nullptr) {
    throw Error("out of memory: an image of " + to_string(size) + " needs " +
                    std::to_string(total >> 20) + " MiB",
                ExitCode::file_failed);
  }
  std::byte* memory = taken->data;
  const std::shared_ptr<std::byte> block(memory, [taken](std::byte*) { allocator().give(taken); });
  fill_for_test(memory, static_cast<std::size_t>(total));
  for (Plane& plane : planes) {
    plane.cls_ = cls;
    plane.size_ = size;
    plane.stride_ = stride;
    plane.data_ = {block, memory};
    memory += each;
  }
  return planes;
}

HostImage::HostImage(const ImageType& image_type, Size size)
    : type(image_type), planes(new_planes(type.cls, type.channels, size)) {
  if (type.alpha) alpha = Plane(type.cls, size);
}

MemoryUse plane_memory() { return allocator().use(); }
void release_plane_memory() { allocator().release(); }
PlaneBlock& block_of(const Plane& plane) { return *allocator().block_of(plane.row(0)); }
void drop_useless_locks() { allocator().drop_useless_locks(); }

PlaneBlock::~PlaneBlock() {
  lock.reset();
  std::free(data);
}

}  // namespace impipe
