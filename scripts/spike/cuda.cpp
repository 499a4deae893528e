// Runs the spike's kernels on a CUDA device through the driver API and NVRTC, both opened at run
// time.
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "spike.hpp"

namespace spike {
namespace {

template <class F>
F* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) throw std::runtime_error(std::string("no symbol ") + name);
  return reinterpret_cast<F*>(found);
}
#define DRIVER(name, real_name) static auto name = symbol<decltype(::name)>(driver(), real_name)

void* driver() {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return library;
}
void check(int code, const char* call) {
  if (code != 0) throw std::runtime_error(std::string(call) + ": " + std::to_string(code));
}

std::string compiled(const std::string& text) {
  void* library = nullptr;
  for (const char* name :
       {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    if (!library) library = dlopen(name, RTLD_NOW);
  }
  if (!library) return "";
  const auto create = symbol<decltype(nvrtcCreateProgram)>(library, "nvrtcCreateProgram");
  const auto compile = symbol<decltype(nvrtcCompileProgram)>(library, "nvrtcCompileProgram");
  const auto log_of = symbol<decltype(nvrtcGetProgramLog)>(library, "nvrtcGetProgramLog");
  const auto size_of = symbol<decltype(nvrtcGetCUBINSize)>(library, "nvrtcGetCUBINSize");
  const auto code_of = symbol<decltype(nvrtcGetCUBIN)>(library, "nvrtcGetCUBIN");
  nvrtcProgram program;
  check(create(&program, text.c_str(), "spike.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const char* options[] = {"--gpu-architecture=sm_90", "--fmad=false", "--prec-div=true",
                           "--prec-sqrt=true", "--ftz=false"};
  if (compile(program, 5, options) != NVRTC_SUCCESS) {
    std::string log(100000, '\0');
    log_of(program, log.data());
    std::printf("%s\n", log.c_str());
    throw std::runtime_error("nvrtcCompileProgram");
  }
  std::size_t size = 0;
  check(size_of(program, &size), "nvrtcGetCUBINSize");
  std::string code(size, '\0');
  check(code_of(program, code.data()), "nvrtcGetCUBIN");
  return code;
}

class CudaDevice : public Device {
 public:
  explicit CudaDevice(const std::string& code) {
    DRIVER(cuInit, "cuInit");
    DRIVER(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    DRIVER(cuCtxSetCurrent, "cuCtxSetCurrent");
    DRIVER(cuModuleLoadData, "cuModuleLoadData");
    check(cuInit(0), "cuInit");
    CUcontext context;
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuModuleLoadData(&module_, code.data()), "cuModuleLoadData");
  }
  std::string name() override {
    DRIVER(cuDeviceGetName, "cuDeviceGetName");
    char text[256] = "";
    cuDeviceGetName(text, sizeof text, 0);
    return std::string("cuda ") + text;
  }
  std::uint64_t buffer(std::size_t size, const void* data) override {
    static auto allocate = symbol<CUresult(CUdeviceptr*, std::size_t)>(driver(), "cuMemAlloc_v2");
    static auto upload =
        symbol<CUresult(CUdeviceptr, const void*, std::size_t)>(driver(), "cuMemcpyHtoD_v2");
    CUdeviceptr made;
    check(allocate(&made, size), "cuMemAlloc");
    if (data) check(upload(made, data, size), "cuMemcpyHtoD");
    return made;
  }
  double run(const std::string& kernel, std::int64_t x, std::int64_t y, int group,
             std::vector<Argument> arguments) override {
    DRIVER(cuModuleGetFunction, "cuModuleGetFunction");
    DRIVER(cuLaunchKernel, "cuLaunchKernel");
    DRIVER(cuEventCreate, "cuEventCreate");
    DRIVER(cuEventRecord, "cuEventRecord");
    DRIVER(cuEventSynchronize, "cuEventSynchronize");
    static auto elapsed =
        symbol<CUresult(float*, CUevent, CUevent)>(driver(), "cuEventElapsedTime");
    CUfunction function;
    check(cuModuleGetFunction(&function, module_, kernel.c_str()), "cuModuleGetFunction");
    void* pointers[16];
    for (std::size_t i = 0; i < arguments.size(); ++i) pointers[i] = arguments[i].bytes;
    CUevent start, end;
    check(cuEventCreate(&start, 0), "cuEventCreate");
    check(cuEventCreate(&end, 0), "cuEventCreate");
    check(cuEventRecord(start, nullptr), "cuEventRecord");
    check(cuLaunchKernel(function, static_cast<unsigned>((x + group - 1) / group),
                         static_cast<unsigned>(y), 1, static_cast<unsigned>(group), 1, 1, 0,
                         nullptr, pointers, nullptr),
          "cuLaunchKernel");
    check(cuEventRecord(end, nullptr), "cuEventRecord");
    check(cuEventSynchronize(end), "cuEventSynchronize");
    float ms = 0;
    check(elapsed(&ms, start, end), "cuEventElapsedTime");
    return ms;
  }
  void read(std::uint64_t buffer, void* to, std::size_t size) override {
    static auto download =
        symbol<CUresult(void*, CUdeviceptr, std::size_t)>(driver(), "cuMemcpyDtoH_v2");
    check(download(to, buffer, size), "cuMemcpyDtoH");
  }

 private:
  CUmodule module_;
};

}  // namespace

std::unique_ptr<Device> cuda_device(const std::string& text, const std::string& cubin) {
  std::string code = compiled(text);
  if (code.empty()) {
    std::printf("cuda: no NVRTC, loading %s\n", cubin.c_str());
    std::ifstream in(cubin, std::ios::binary);
    code.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    std::ofstream(cubin, std::ios::binary) << code;
    std::printf("cuda: NVRTC made %zu bytes for sm_90\n", code.size());
  }
  if (!driver()) {
    std::printf("cuda: no driver, compiled only\n");
    return nullptr;
  }
  return std::make_unique<CudaDevice>(code);
}

}  // namespace spike
