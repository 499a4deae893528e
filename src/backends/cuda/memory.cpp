// Contexts and memory through the driver.
#include "backends/cuda/memory.hpp"

#include <mutex>

#include "core/error.hpp"

namespace impipe::cuda {

DeviceContext::DeviceContext(DeviceNumber device) : device_(device) {
  check(driver().api.context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
}

DeviceContext::~DeviceContext() { driver().api.context_release(device_); }

void DeviceContext::use() const { check(driver().api.context_set(context_), "cuCtxSetCurrent"); }

bool DeviceContext::try_use() const noexcept { return driver().api.context_set(context_) == 0; }

std::shared_ptr<jit::MemoryPool> make_pool(const std::shared_ptr<const DeviceContext>& context,
                                           const std::string& device) {
  jit::MemorySource source;
  source.device = device;
  source.allocate = [context](std::int64_t bytes) -> std::uint64_t {
    context->use();
    DevicePointer pointer = 0;
    const Result result = driver().api.memory_allocate(&pointer, static_cast<std::size_t>(bytes));
    if (result != error_out_of_memory) check(result, "cuMemAlloc");
    return result == 0 ? pointer : 0;
  };
  source.free = [context](std::uint64_t pointer) {
    if (context->try_use()) driver().api.memory_free(pointer);
  };
  return jit::MemoryPool::make(std::move(source), jit::memory_cap());
}

std::shared_ptr<jit::PageLocks> page_locks(const std::shared_ptr<const DeviceContext>& context) {
  static std::mutex mutex;
  static std::weak_ptr<jit::PageLocks> known;
  const std::lock_guard guard(mutex);
  std::shared_ptr<jit::PageLocks> locks = known.lock();
  if (locks) return locks;
  locks = jit::PageLocks::make([context](std::byte* data, std::int64_t bytes) {
    const bool locked =
        context->try_use() && driver().api.host_register(data, static_cast<std::size_t>(bytes),
                                                         memory_of_all_contexts) == 0;
    const auto unlock = [context](void* memory) {
      if (context->try_use()) driver().api.host_unregister(memory);
    };
    return locked ? std::shared_ptr<void>(data, unlock) : nullptr;
  });
  known = locks;
  return locks;
}

PinnedMemory::PinnedMemory(std::size_t bytes) : bytes_(bytes) {
  check(driver().api.host_allocate(&data_, bytes, 0), "cuMemHostAlloc");
}

PinnedMemory::~PinnedMemory() { driver().api.host_free(data_); }

}  // namespace impipe::cuda
