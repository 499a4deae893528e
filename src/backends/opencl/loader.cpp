// The OpenCL loader, opened at run time: a program without it starts all the same.
#include "backends/opencl/loader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <latch>

#include "core/backend.hpp"
#include "core/threads.hpp"

namespace impipe::opencl {
namespace {

// Whether so many threads can run at the same time.
bool can_start_threads(unsigned count) {
  std::latch tried(1);
  std::vector<std::thread> threads =
      start_threads(static_cast<int>(count), [&tried](int) { tried.wait(); });
  tried.count_down();
  for (std::thread& thread : threads) thread.join();
  return threads.size() == count;
}

struct Loader {
  Calls table;
  std::string problem;

  Loader() {
    // PoCL ends the process when it does not find ld, as in an empty environment.
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 0);
    // And when it cannot start a thread for each core.
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (!can_start_threads(cores)) {
      problem = "the system does not let " + std::to_string(cores) +
                " threads start, one for each core, which an OpenCL driver may need";
      return;
    }
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem =
          "there is no OpenCL loader (libOpenCL.so.1); install ocl-icd-libopencl1 and the "
          "OpenCL driver of your device (pocl-opencl-icd for the processor)";
      return;
    }
#define IMPIPE_OPENCL_LOAD(name)                                              \
  table.name = reinterpret_cast<decltype(table.name)>(dlsym(library, #name)); \
  if (table.name == nullptr) problem = "the OpenCL loader has no " #name;
    IMPIPE_OPENCL_CALLS(IMPIPE_OPENCL_LOAD)
#undef IMPIPE_OPENCL_LOAD
  }
};

const Loader& loader() {
  static const Loader loaded;
  return loaded;
}

const char* name_of_code(cl_int code) {
  switch (code) {
    case CL_DEVICE_NOT_AVAILABLE: return "CL_DEVICE_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
    case CL_BUILD_PROGRAM_FAILURE: return "CL_BUILD_PROGRAM_FAILURE";
    case CL_INVALID_VALUE: return "CL_INVALID_VALUE";
    case CL_INVALID_BINARY: return "CL_INVALID_BINARY";
    case CL_INVALID_KERNEL_ARGS: return "CL_INVALID_KERNEL_ARGS";
    case CL_INVALID_ARG_SIZE: return "CL_INVALID_ARG_SIZE";
    case CL_INVALID_WORK_GROUP_SIZE: return "CL_INVALID_WORK_GROUP_SIZE";
    case CL_INVALID_BUFFER_SIZE: return "CL_INVALID_BUFFER_SIZE";
    default: return nullptr;
  }
}

}  // namespace

const Calls* calls() { return loader().problem.empty() ? &loader().table : nullptr; }

const std::string& loader_problem() { return loader().problem; }

void check(cl_int code, const std::string& action) {
  if (code == CL_SUCCESS) return;
  const char* name = name_of_code(code);
  const std::string text = "opencl: " + action + " failed: " +
                           (name != nullptr ? std::string(name) : "error " + std::to_string(code));
  // Some drivers give buffers their memory at first use.
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE) throw OutOfDeviceMemory(text);
  throw Error(text, ExitCode::backend);
}

}  // namespace impipe::opencl
