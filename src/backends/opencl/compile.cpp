// Kernels: generated text, compiled by the device's driver.
#include "backends/opencl/compile.hpp"

#include "core/error.hpp"

namespace impipe::opencl {

OpenClKernel::OpenClKernel(cl_context context, cl_device_id device, const KernelSpec& spec,
                           const jit::Tuning& tuning)
    : program(jit::generate(spec, jit::Dialect::opencl, tuning)) {
  build(context, device);
  for (const std::string& name : program.entries) {
    cl_int code = CL_SUCCESS;
    entries.push_back(calls()->clCreateKernel(built_, name.c_str(), &code));
    check(code, "the kernel " + name);
  }
}

OpenClKernel::~OpenClKernel() {
  for (const cl_kernel entry : entries) calls()->clReleaseKernel(entry);
  if (built_ != nullptr) calls()->clReleaseProgram(built_);
}

void OpenClKernel::build(cl_context context, cl_device_id device) {
  const Calls& cl = *calls();
  std::string options;
  for (const std::string& option : jit::compiler_options(jit::Dialect::opencl)) {
    options += (options.empty() ? "" : " ") + option;
  }
  const char* text = program.source.c_str();
  cl_int code = CL_SUCCESS;
  built_ = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  code = cl.clBuildProgram(built_, 1, &device, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return;
  std::size_t size = 0;
  cl.clGetProgramBuildInfo(built_, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  cl.clGetProgramBuildInfo(built_, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  throw Error("opencl: a kernel does not compile:\n" + log + "\n" + program.source,
              ExitCode::backend);
}

}  // namespace impipe::opencl
