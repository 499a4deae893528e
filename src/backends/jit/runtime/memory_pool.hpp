// Device memory that is kept for reuse, in size classes, for both GPU backends.
//
// A lane's work is done in order, so that a block which a lane gave back may be taken by the same
// lane at once, whatever still runs there. Another lane gets it only after the first one's end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace impipe::jit {

// Where a pool's memory comes from. The handles are the SDK's own: a pointer or an object.
struct MemorySource {
  std::string device;                                   // for messages
  std::function<std::uint64_t(std::int64_t)> allocate;  // bytes -> handle; 0 when there is none
  std::function<void(std::uint64_t)> free;              // waits for work that uses it
};

class MemoryPool;

// Memory of a pool; goes back when it goes.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept { *this = std::move(other); }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;
  ~MemoryBlock();
  // Memory of another library, which frees it.
  static MemoryBlock of_others(std::uint64_t handle) {
    MemoryBlock block;
    block.handle_ = handle;
    return block;
  }
  std::uint64_t handle() const { return handle_; }
  std::int64_t bytes() const { return bytes_; }  // of its class: as many as were asked for, or more

 private:
  friend class MemoryPool;
  std::shared_ptr<MemoryPool> pool_;
  std::uint64_t handle_ = 0;
  std::int64_t bytes_ = 0;
  int lane_ = 0;
};

// Any thread may call any function.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // cap: bytes that the pool may hold, used or kept.
  static std::shared_ptr<MemoryPool> make(MemorySource source, std::int64_t cap);
  ~MemoryPool();

  int open_lane();
  // The lane's work has ended: others may have what it gave back.
  void close_lane(int lane);

  // Throws OutOfDeviceMemory after giving back all that is kept for reuse and trying again.
  MemoryBlock allocate(std::int64_t bytes, int lane);

  std::int64_t held() const;  // bytes, used or kept
  std::int64_t peak() const;  // the most that was held

 private:
  MemoryPool(MemorySource source, std::int64_t cap) : source_(std::move(source)), cap_(cap) {}
  friend class MemoryBlock;
  void give_back(std::uint64_t handle, std::int64_t bytes, int lane);
  std::uint64_t try_allocate(std::int64_t bytes);
  void free_kept();

  struct Kept {
    std::uint64_t handle;
    int lane;
  };
  MemorySource source_;
  std::int64_t cap_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::vector<Kept>> kept_;  // by class
  std::set<int> lanes_;                             // that are open
  int next_lane_ = 0;
  std::int64_t held_ = 0, peak_ = 0;
};

// The class of a size: a quarter of a power of two, so that at most a fifth is wasted.
std::int64_t size_class(std::int64_t bytes);

// Bytes a second, read plus written, of copies beyond any cache, if there is memory for them: the
// best of a few. 0 when there is no memory. seconds: of one copy.
double measured_copy(MemoryPool& memory, int lane,
                     const std::function<double(const MemoryBlock& from, const MemoryBlock& to,
                                                std::int64_t bytes)>& seconds);

// Bytes of device memory that pools may hold; 0: what the device has. For pools made later.
void set_memory_cap(std::int64_t bytes);
std::int64_t memory_cap();

}  // namespace impipe::jit
