// Kernels: generated text, compiled by the device's driver.
#pragma once

#include <mutex>
#include <vector>

#include "backends/jit/generator.hpp"
#include "backends/opencl/loader.hpp"
#include "core/backend.hpp"

namespace impipe::opencl {

// What a device's compiler is asked in.
struct Target {
  jit::Dialect dialect = jit::Dialect::opencl;
  int capability = 0;  // of NVIDIA's devices: compute capability times ten
  int sub_group = 0;   // that kernels ask for; 0: none
};

class OpenClKernel final : public Kernel {
 public:
  // Throws Error with the compiler's log.
  // title: what a person would look for in a list of kernels.
  OpenClKernel(cl_context context, cl_device_id device, const Target& target,
               const DeviceInfo& info, jit::Program generated, const std::string& title);
  ~OpenClKernel() override;

  jit::Program program;
  std::vector<cl_kernel> entries;      // one a program.entries
  mutable std::mutex mutex;            // arguments are part of a cl_kernel: one launch at a time
  mutable std::vector<bool> launched;  // one an entry, guarded by `mutex`

 private:
  // Whether the driver takes it.
  bool build(cl_device_id device, cl_program made, std::string& log);
  std::string options_;
  cl_program built_ = nullptr;
};

}  // namespace impipe::opencl
