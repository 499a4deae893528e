// Size classes, lanes and what happens when memory is out.
#include "backends/jit/runtime/memory_pool.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <limits>

#include "core/backend.hpp"

namespace impipe::jit {
namespace {

constexpr std::int64_t smallest_class = 512;

std::atomic<std::int64_t>& cap_of_process() {
  static std::atomic<std::int64_t> cap = 0;
  return cap;
}

// IMPIPE_TEST_FAIL_ALLOC=n: the n-th request of the process fails, as if memory were out.
bool fails_for_a_test() {
  static std::atomic<std::int64_t> requests = 0;
  static const std::int64_t failing = [] {
    const char* value = std::getenv("IMPIPE_TEST_FAIL_ALLOC");
    return value != nullptr ? std::atoll(value) : 0;
  }();
  return ++requests == failing;
}

// IMPIPE_TEST_EXACT_BUFFERS: memory as large as was asked for, so that Oclgrind and
// compute-sanitizer see what lies beyond.
bool exact_buffers() {
  static const bool asked = std::getenv("IMPIPE_TEST_EXACT_BUFFERS") != nullptr;
  return asked;
}

}  // namespace

std::int64_t size_class(std::int64_t bytes) {
  if (exact_buffers()) return std::max<std::int64_t>(bytes, 1);
  if (bytes <= smallest_class) return smallest_class;
  const auto quarter =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes - 1)) / 4);
  return (bytes + quarter - 1) / quarter * quarter;
}

double measured_copy(MemoryPool& memory, int lane,
                     const std::function<double(const MemoryBlock& from, const MemoryBlock& to,
                                                std::int64_t bytes)>& seconds) {
  constexpr std::int64_t most = std::int64_t{256} << 20, least = 1 << 20;
  constexpr int runs = 5;
  for (std::int64_t bytes = most; bytes >= least; bytes /= 4) {
    try {
      const MemoryBlock from = memory.allocate(bytes, lane), to = memory.allocate(bytes, lane);
      // Warms up, and writes both: memory may be given at first use.
      seconds(from, to, bytes);
      seconds(to, from, bytes);
      double best = 0;
      for (int run = 0; run < runs; ++run) {
        const double took = seconds(from, to, bytes);
        if (took > 0) best = std::max(best, 2.0 * static_cast<double>(bytes) / took);
      }
      return best;
    } catch (const OutOfDeviceMemory&) {
    }
  }
  return 0;
}

void set_memory_cap(std::int64_t bytes) { cap_of_process() = bytes; }
std::int64_t memory_cap() { return cap_of_process(); }

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(handle_, other.handle_);
  std::swap(bytes_, other.bytes_);
  std::swap(lane_, other.lane_);
  return *this;
}

MemoryBlock::~MemoryBlock() {
  if (pool_) pool_->give_back(handle_, bytes_, lane_);
}

std::shared_ptr<MemoryPool> MemoryPool::make(MemorySource source, std::int64_t cap) {
  if (cap <= 0) cap = std::numeric_limits<std::int64_t>::max();
  return std::shared_ptr<MemoryPool>(new MemoryPool(std::move(source), cap));
}

MemoryPool::~MemoryPool() { free_kept(); }

int MemoryPool::open_lane() {
  std::lock_guard lock(mutex_);
  lanes_.insert(next_lane_);
  return next_lane_++;
}

void MemoryPool::close_lane(int lane) {
  std::lock_guard lock(mutex_);
  lanes_.erase(lane);
}

std::int64_t MemoryPool::held() const {
  std::lock_guard lock(mutex_);
  return held_;
}

std::int64_t MemoryPool::peak() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

MemoryBlock MemoryPool::allocate(std::int64_t bytes, int lane) {
  MemoryBlock block;
  block.bytes_ = size_class(bytes);
  block.lane_ = lane;
  std::lock_guard lock(mutex_);
  const bool fails = fails_for_a_test();
  std::vector<Kept>& same = kept_[block.bytes_];
  const auto found = std::find_if(same.rbegin(), same.rend(), [&](const Kept& kept) {
    return kept.lane == lane || !lanes_.contains(kept.lane);
  });
  if (!fails && found != same.rend()) {
    block.handle_ = found->handle;
    same.erase(std::next(found).base());
  } else {
    if (!fails) block.handle_ = try_allocate(block.bytes_);
    if (block.handle_ == 0) {
      free_kept();
      if (!fails) block.handle_ = try_allocate(block.bytes_);
    }
    if (block.handle_ == 0) {
      throw OutOfDeviceMemory(source_.device + ": no memory for " +
                              std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB; " +
                              std::to_string(held_ >> 20) + " MiB are in use");
    }
  }
  block.pool_ = shared_from_this();
  return block;
}

std::uint64_t MemoryPool::try_allocate(std::int64_t bytes) {
  if (bytes > cap_ - held_) return 0;
  const std::uint64_t handle = source_.allocate(bytes);
  if (handle != 0) held_ += bytes;
  peak_ = std::max(peak_, held_);
  return handle;
}

void MemoryPool::free_kept() {
  for (auto& [bytes, blocks] : kept_) {
    for (const Kept& kept : blocks) {
      source_.free(kept.handle);
      held_ -= bytes;
    }
    blocks.clear();
  }
}

void MemoryPool::give_back(std::uint64_t handle, std::int64_t bytes, int lane) {
  std::lock_guard lock(mutex_);
  kept_[bytes].push_back({handle, lane});
}

}  // namespace impipe::jit
