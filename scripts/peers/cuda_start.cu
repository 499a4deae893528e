// What a CUDA program's start takes without us: the driver and the card's context, which the system
// takes back, as impipe has it. Prints milliseconds of each. For scripts/gpu_start.sh.
#include <cuda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main() {
  const auto begin = std::chrono::steady_clock::now();
  auto last = begin;
  const auto lap = [&](const char* what, CUresult result) {
    const auto now = std::chrono::steady_clock::now();
    std::printf("%s %.1f ms%s; ", what, std::chrono::duration<double>(now - last).count() * 1e3,
                result == CUDA_SUCCESS ? "" : " (failed)");
    last = now;
  };
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  lap("cuInit", cuInit(0));
  cuDeviceGet(&device, 0);
  lap("context", cuDevicePrimaryCtxRetain(&context, device));
  cuCtxSetCurrent(context);
  lap("memory", cuMemAlloc(&memory, 64 << 20));
  cuMemFree(memory);
  std::printf("all %.1f ms\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e3);
  std::fflush(stdout);
  std::_Exit(0);
}
