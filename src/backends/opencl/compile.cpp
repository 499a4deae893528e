// Kernels: generated text, compiled by the device's driver.
#include "backends/opencl/compile.hpp"

#include "backends/jit/runtime/binaries.hpp"
#include "core/error.hpp"

namespace impipe::opencl {
namespace {

std::string options_for(const Target& target, const jit::Program& program) {
  std::string text;
  for (const std::string& option : jit::compiler_options(target.dialect)) {
    text += (text.empty() ? "" : " ") + option;
  }
  if (target.dialect == jit::Dialect::opencl_nvidia) {
    text += " -DCAPABILITY=" + std::to_string(target.capability);
    if (program.max_registers > 0) {
      text += " -cl-nv-maxrregcount=" + std::to_string(program.max_registers);
    }
  }
  if (target.sub_group > 0) text += " -DREQUIRED_SUB_GROUP=" + std::to_string(target.sub_group);
  return text;
}

// Empty when the driver gives none.
std::vector<std::byte> binary_of(cl_program program) {
  std::size_t size = 0;
  if (calls()->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::vector<std::byte> binary(size);
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  if (calls()->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return binary;
}

}  // namespace

OpenClKernel::OpenClKernel(cl_context context, cl_device_id device, const Target& target,
                           const DeviceInfo& info, jit::Program generated, const std::string& title)
    : program(std::move(generated)), options_(options_for(target, program)) {
  const Calls& cl = *calls();
  std::string log;
  const auto compile = [&] {
    const char* text = program.source.c_str();
    cl_int code = CL_SUCCESS;
    const cl_program made = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    if (!build(device, made, log)) {
      throw Error("opencl: a kernel does not compile:\n" + log + "\n" + program.source,
                  ExitCode::backend);
    }
    return binary_of(built_);
  };
  const auto load = [&](std::span<const std::byte> binary) {
    if (built_ != nullptr) return true;  // it was made from this program a moment ago
    const std::size_t size = binary.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int code = CL_SUCCESS;
    const cl_program made =
        cl.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, nullptr, &code);
    return code == CL_SUCCESS && build(device, made, log);
  };
  jit::with_binary({.key = {.source = program.source,
                            .options = options_,
                            .compiler = info.driver,
                            .device = info.name,
                            .driver = info.driver},
                    .title = title,
                    .extension = "cl",
                    .plan = program.plan},
                   compile, load);
  for (const std::string& name : program.entries) {
    cl_int code = CL_SUCCESS;
    entries.push_back(cl.clCreateKernel(built_, name.c_str(), &code));
    check(code, "the kernel " + name);
  }
  launched.resize(entries.size());
}

OpenClKernel::~OpenClKernel() {
  for (const cl_kernel entry : entries) calls()->clReleaseKernel(entry);
  if (built_ != nullptr) calls()->clReleaseProgram(built_);
}

bool OpenClKernel::build(cl_device_id device, cl_program made, std::string& log) {
  const Calls& cl = *calls();
  if (cl.clBuildProgram(made, 1, &device, options_.c_str(), nullptr, nullptr) == CL_SUCCESS) {
    built_ = made;
    return true;
  }
  std::size_t size = 0;
  cl.clGetProgramBuildInfo(made, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  log.resize(size);
  cl.clGetProgramBuildInfo(made, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  cl.clReleaseProgram(made);
  return false;
}

}  // namespace impipe::opencl
