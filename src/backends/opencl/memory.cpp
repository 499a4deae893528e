// Device memory: buffers of size classes that a lane uses again.
#include "backends/opencl/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "backends/jit/generator.hpp"
#include "backends/jit/memory_pool.hpp"
#include "core/error.hpp"

namespace impipe::opencl {
namespace {

// For tests: the allocation of this number, and the attempts that follow it for the same buffer,
// fail.
bool injected_failure() {
  static const char* text = std::getenv("IMPIPE_TEST_FAIL_ALLOC");
  static const long failing = text != nullptr ? std::atol(text) : 0;
  static std::atomic<long> count = 0;
  return failing > 0 && ++count == failing;
}

}  // namespace

// Powers of two in eighths: at most an eighth is wasted.
std::int64_t Pool::size_class(std::int64_t bytes) {
  if (jit::exact_buffers()) return std::max<std::int64_t>(bytes, 1);
  constexpr std::int64_t least = 4096;
  if (bytes <= least) return least;
  const std::int64_t step =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes - 1))) / 8;
  return (bytes + step - 1) / step * step;
}

Memory Pool::take(std::int64_t bytes) {
  const std::int64_t size = size_class(bytes);
  {
    std::lock_guard lock(mutex_);
    std::vector<Memory>& fitting = free_[size];
    if (!fitting.empty()) {
      Memory found = std::move(fitting.back());
      fitting.pop_back();
      kept_ -= size;
      return found;
    }
  }
  const bool fails = injected_failure();
  for (int attempt = 0; attempt < 2 && !fails; ++attempt) {
    cl_int code = CL_SUCCESS;
    const cl_mem made = calls()->clCreateBuffer(context_, CL_MEM_READ_WRITE,
                                                static_cast<std::size_t>(size), nullptr, &code);
    if (code == CL_SUCCESS) return Memory(made);
    std::lock_guard lock(mutex_);
    free_.clear();
    kept_ = 0;
  }
  throw OutOfDeviceMemory(device_ + ": out of memory: no " + std::to_string(size) +
                          " bytes are left");
}

void Pool::give(Memory memory, std::int64_t bytes) {
  const std::int64_t size = size_class(bytes);
  std::lock_guard lock(mutex_);
  if (kept_ + size > cap_) return;
  kept_ += size;
  free_[size].push_back(std::move(memory));
}

OpenClPlane::OpenClPlane(std::shared_ptr<Pool> pool, PixelClass cls, int channels, Size size,
                         int count)
    : OpenClPlane(std::move(pool), cls, channels, size, count,
                  jit::row_bytes(cls, channels, size)) {}

OpenClPlane::OpenClPlane(std::shared_ptr<Pool> pool, PixelClass cls, int channels, Size size,
                         int count, std::int64_t stride)
    : memory(std::move(pool), stride * size.height * count),
      cls_(cls),
      channels_(channels),
      size_(size),
      count_(count),
      stride_(stride) {}

}  // namespace impipe::opencl
