// The few functions of NVIDIA's driver and of its run-time compiler that are used, declared here so
// that the build needs no CUDA. Signatures as in cuda.h and nvrtc.h of CUDA 11 and later.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace impipe::cuda {

using Result = int;  // 0 is success
using DeviceNumber = int;
using DevicePointer = unsigned long long;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphRun = struct GraphRunHandle*;
// CUDA_MEMCPY2D: `height` rows of `width` bytes, from pitch to pitch.
struct Copy2d {
  struct End {
    std::size_t x = 0, y = 0;
    unsigned kind = 0;  // one of memory_of_...
    const void* host = nullptr;
    DevicePointer device = 0;
    void* array = nullptr;
    std::size_t pitch = 0;
  };
  End from, to;
  std::size_t width = 0, height = 0;
};
using CompilerProgram = struct CompilerProgramHandle*;

inline constexpr Result error_out_of_memory = 2;
inline constexpr Result error_not_ready = 600;
inline constexpr int attribute_shared = 8;  // bytes of a block
inline constexpr int attribute_warp_size = 10;
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_compute_major = 75;
inline constexpr int attribute_compute_minor = 76;
inline constexpr int attribute_max_shared = 97;        // bytes a block may ask for
inline constexpr int function_max_dynamic_shared = 8;  // bytes
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_without_time = 2;
inline constexpr int capture_relaxed = 2;
inline constexpr unsigned memory_of_host = 1, memory_of_device = 2;
inline constexpr unsigned memory_of_all_contexts = 1;

// X(member, name in the library, parameters)
#define IMPIPE_CUDA_DRIVER(X)                                                                  \
  X(init, "cuInit", (unsigned))                                                                \
  X(driver_version, "cuDriverGetVersion", (int*))                                              \
  X(error_text, "cuGetErrorString", (Result, const char**))                                    \
  X(device_count, "cuDeviceGetCount", (int*))                                                  \
  X(device_get, "cuDeviceGet", (DeviceNumber*, int))                                           \
  X(device_name, "cuDeviceGetName", (char*, int, DeviceNumber))                                \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, DeviceNumber))                        \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, DeviceNumber))                       \
  X(context_retain, "cuDevicePrimaryCtxRetain", (Context*, DeviceNumber))                      \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber))                           \
  X(context_set, "cuCtxSetCurrent", (Context))                                                 \
  X(context_get, "cuCtxGetCurrent", (Context*))                                                \
  X(context_wait, "cuCtxSynchronize", ())                                                      \
  X(module_load, "cuModuleLoadData", (Module*, const void*))                                   \
  X(module_unload, "cuModuleUnload", (Module))                                                 \
  X(module_function, "cuModuleGetFunction", (Function*, Module, const char*))                  \
  X(function_attribute, "cuFuncSetAttribute", (Function, int, int))                            \
  X(memory_allocate, "cuMemAlloc_v2", (DevicePointer*, std::size_t))                           \
  X(memory_free, "cuMemFree_v2", (DevicePointer))                                              \
  X(host_allocate, "cuMemHostAlloc", (void**, std::size_t, unsigned))                          \
  X(host_free, "cuMemFreeHost", (void*))                                                       \
  X(host_register, "cuMemHostRegister_v2", (void*, std::size_t, unsigned))                     \
  X(host_unregister, "cuMemHostUnregister", (void*))                                           \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (DevicePointer, const void*, std::size_t, Stream)) \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, DevicePointer, std::size_t, Stream))         \
  X(copy_rows, "cuMemcpy2DAsync_v2", (const Copy2d*, Stream))                                  \
  X(copy, "cuMemcpyDtoDAsync_v2", (DevicePointer, DevicePointer, std::size_t, Stream))         \
  X(fill, "cuMemsetD8Async", (DevicePointer, unsigned char, std::size_t, Stream))              \
  X(stream_create, "cuStreamCreate", (Stream*, unsigned))                                      \
  X(stream_destroy, "cuStreamDestroy_v2", (Stream))                                            \
  X(stream_wait, "cuStreamSynchronize", (Stream))                                              \
  X(stream_query, "cuStreamQuery", (Stream))                                                   \
  X(stream_wait_event, "cuStreamWaitEvent", (Stream, Event, unsigned))                         \
  X(event_create, "cuEventCreate", (Event*, unsigned))                                         \
  X(event_destroy, "cuEventDestroy_v2", (Event))                                               \
  X(event_record, "cuEventRecord", (Event, Stream))                                            \
  X(event_wait, "cuEventSynchronize", (Event))                                                 \
  X(event_query, "cuEventQuery", (Event))                                                      \
  X(event_elapsed, "cuEventElapsedTime", (float*, Event, Event))                               \
  X(capture_begin, "cuStreamBeginCapture_v2", (Stream, int))                                   \
  X(capture_end, "cuStreamEndCapture", (Stream, Graph*))                                       \
  X(graph_prepare, "cuGraphInstantiateWithFlags", (GraphRun*, Graph, unsigned long long))      \
  X(graph_upload, "cuGraphUpload", (GraphRun, Stream))                                         \
  X(graph_launch, "cuGraphLaunch", (GraphRun, Stream))                                         \
  X(graph_run_destroy, "cuGraphExecDestroy", (GraphRun))                                       \
  X(graph_destroy, "cuGraphDestroy", (Graph))                                                  \
  X(launch, "cuLaunchKernel",                                                                  \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,   \
     void**, void**))

#define IMPIPE_CUDA_COMPILER(X)                                                                \
  X(version, "nvrtcVersion", (int*, int*))                                                     \
  X(arch_count, "nvrtcGetNumSupportedArchs", (int*))                                           \
  X(archs, "nvrtcGetSupportedArchs", (int*))                                                   \
  X(create, "nvrtcCreateProgram",                                                              \
    (CompilerProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroy, "nvrtcDestroyProgram", (CompilerProgram*))                                        \
  X(compile, "nvrtcCompileProgram", (CompilerProgram, int, const char* const*))                \
  X(log_size, "nvrtcGetProgramLogSize", (CompilerProgram, std::size_t*))                       \
  X(log, "nvrtcGetProgramLog", (CompilerProgram, char*))                                       \
  X(cubin_size, "nvrtcGetCUBINSize", (CompilerProgram, std::size_t*))                          \
  X(cubin, "nvrtcGetCUBIN", (CompilerProgram, char*))                                          \
  X(ptx_size, "nvrtcGetPTXSize", (CompilerProgram, std::size_t*))                              \
  X(ptx, "nvrtcGetPTX", (CompilerProgram, char*))

#define IMPIPE_CUDA_MEMBER(member, name, parameters) Result(*member) parameters = nullptr;
struct Driver {
  IMPIPE_CUDA_DRIVER(IMPIPE_CUDA_MEMBER)
};
struct CompilerApi {
  IMPIPE_CUDA_COMPILER(IMPIPE_CUDA_MEMBER)
};
#undef IMPIPE_CUDA_MEMBER

// A library that is opened at its first use and stays open.
template <class Api>
struct Library {
  Api api;
  bool found = false;
  std::string path;     // or name, as opened
  std::string why_not;  // what is missing and what to install, unless found
};

const Library<Driver>& driver();
// The newest NVRTC that fits the driver (a major version no newer), else any.
const Library<CompilerApi>& compiler();
// "NVRTC 13.0"; empty without one.
std::string compiler_name();

// Where NVRTC is looked for, in this order; patterns as for glob.
std::vector<std::string> compiler_places();

// Throws Error (backend), "cuda: launch: …", unless the result is success.
void check(Result result, const char* call);

}  // namespace impipe::cuda
