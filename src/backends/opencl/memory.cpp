// Buffer objects for the pool.
#include "backends/opencl/memory.hpp"

#include <algorithm>

namespace impipe::opencl {

std::shared_ptr<jit::MemoryPool> make_pool(cl_context context, const std::string& device,
                                           std::int64_t most) {
  jit::MemorySource source;
  source.device = device;
  source.allocate = [context](std::int64_t bytes) -> std::uint64_t {
    cl_int code = CL_SUCCESS;
    const cl_mem made = calls()->clCreateBuffer(context, CL_MEM_READ_WRITE,
                                                static_cast<std::size_t>(bytes), nullptr, &code);
    return code == CL_SUCCESS ? reinterpret_cast<std::uint64_t>(made) : 0;
  };
  // The driver frees it when the work that uses it is done.
  source.free = [](std::uint64_t handle) {
    calls()->clReleaseMemObject(reinterpret_cast<cl_mem>(handle));
  };
  const std::int64_t wanted = jit::memory_cap();
  return jit::MemoryPool::make(std::move(source), wanted > 0 ? std::min(wanted, most) : most);
}

std::shared_ptr<jit::PageLocks> make_page_locks(cl_context context) {
  calls()->clRetainContext(context);
  const std::shared_ptr<void> owned(
      context, [](void* c) { calls()->clReleaseContext(static_cast<cl_context>(c)); });
  return jit::PageLocks::make([owned](std::byte* data, std::int64_t bytes) {
    cl_int code = CL_SUCCESS;
    const cl_mem made = calls()->clCreateBuffer(static_cast<cl_context>(owned.get()),
                                                CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                static_cast<std::size_t>(bytes), data, &code);
    const auto release = [](void* buffer) {
      calls()->clReleaseMemObject(static_cast<cl_mem>(buffer));
    };
    return code == CL_SUCCESS ? std::shared_ptr<void>(made, release) : nullptr;
  });
}

}  // namespace impipe::opencl
