#include "core/kept_bytes.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/test_fill.hpp"

namespace impipe {
namespace {

constexpr std::size_t max_buffers = 512;
// The allocator has smaller ones at hand.
constexpr std::size_t min_bytes = std::size_t{16} << 10;

class KeptBytes {
 public:
  KeptBytes() { buffers_.reserve(max_buffers); }

  // One that has room for `size` bytes, the smallest of those; else a new one.
  std::vector<std::byte> take(std::size_t size) {
    std::vector<std::byte> taken;
    if (size < min_bytes) return taken;
    std::lock_guard lock(mutex_);
    auto best = buffers_.end();
    for (auto one = buffers_.begin(); one != buffers_.end(); ++one) {
      if (one->capacity() < size) continue;
      if (best == buffers_.end() || one->capacity() < best->capacity()) best = one;
    }
    if (best == buffers_.end()) return taken;
    taken = std::move(*best);
    bytes_ -= taken.capacity();
    std::swap(*best, buffers_.back());
    buffers_.pop_back();
    return taken;
  }

  void give(std::vector<std::byte> bytes) noexcept {
    const std::size_t room = bytes.capacity();
    std::lock_guard lock(mutex_);
    if (room < min_bytes || room + bytes_ > most_ || buffers_.size() == max_buffers) return;
    buffers_.push_back(std::move(bytes));
    bytes_ += room;
  }

  void set_most(std::size_t bytes) noexcept {
    std::lock_guard lock(mutex_);
    most_ = bytes;
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> buffers_;
  std::size_t bytes_ = 0, most_ = std::size_t{256} << 20;
};

KeptBytes& all_kept() {
  static auto* kept = new KeptBytes;  // files may outlive static destructors
  return *kept;
}

// Files of about one size share buffers.
std::size_t with_some_more(std::size_t size) { return size + size / 8; }

}  // namespace

std::vector<std::byte> kept_bytes(std::size_t size) {
  std::vector<std::byte> bytes = all_kept().take(size);
  if (bytes.capacity() < size) bytes.reserve(with_some_more(size));
  bytes.resize(size);
  fill_for_test(bytes.data(), size);
  return bytes;
}

std::vector<std::byte> kept_room(std::size_t size) {
  std::vector<std::byte> bytes = all_kept().take(size);
  if (bytes.capacity() < size) bytes.reserve(with_some_more(size));
  bytes.clear();
  return bytes;
}

void keep_bytes(std::vector<std::byte> bytes) noexcept { all_kept().give(std::move(bytes)); }

void keep_at_most(std::size_t bytes) noexcept { all_kept().set_most(bytes); }

}  // namespace impipe
