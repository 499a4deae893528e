// Runs the spike's kernels on every OpenCL device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <stdexcept>

#include "spike.hpp"

namespace spike {
namespace {

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string(call) + ": " + std::to_string(code));
}

class OpenClDevice : public Device {
 public:
  OpenClDevice(cl_device_id device, const std::string& text) : device_(device) {
    cl_int code;
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    const char* source = text.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &code);
    code = clBuildProgram(program_, 1, &device,
                          "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", nullptr, nullptr);
    std::string log(100000, '\0');
    clGetProgramBuildInfo(program_, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    if (code != CL_SUCCESS) std::printf("%s\n", log.c_str());
    check(code, "clBuildProgram");
  }
  std::string name() override {
    char text[256] = "";
    cl_device_fp_config config = 0;
    clGetDeviceInfo(device_, CL_DEVICE_NAME, sizeof text, text, nullptr);
    clGetDeviceInfo(device_, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, nullptr);
    return std::string("opencl ") + text + (config & CL_FP_DENORM ? ", denormals" : "") +
           (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? ", exact division" : "");
  }
  std::uint64_t buffer(std::size_t size, const void* data) override {
    cl_int code;
    cl_mem made = clCreateBuffer(context_, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                                 size, const_cast<void*>(data), &code);
    check(code, "clCreateBuffer");
    return reinterpret_cast<std::uint64_t>(made);
  }
  double run(const std::string& kernel, std::int64_t x, std::int64_t y, int group,
             std::vector<Argument> arguments) override {
    cl_int code;
    cl_kernel made = clCreateKernel(program_, kernel.c_str(), &code);
    check(code, "clCreateKernel");
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      check(clSetKernelArg(made, static_cast<cl_uint>(i), arguments[i].size, arguments[i].bytes),
            "clSetKernelArg");
    }
    const std::size_t size[] = {static_cast<std::size_t>((x + group - 1) / group * group),
                                static_cast<std::size_t>(y)};
    const std::size_t local[] = {static_cast<std::size_t>(group), 1};
    cl_event event;
    check(clEnqueueNDRangeKernel(queue_, made, 2, nullptr, size, local, 0, nullptr, &event),
          "clEnqueueNDRangeKernel");
    check(clWaitForEvents(1, &event), "clWaitForEvents");
    cl_ulong start = 0, end = 0;
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    clReleaseEvent(event);
    clReleaseKernel(made);
    return static_cast<double>(end - start) * 1e-6;
  }
  void read(std::uint64_t buffer, void* to, std::size_t size) override {
    check(clEnqueueReadBuffer(queue_, reinterpret_cast<cl_mem>(buffer), CL_TRUE, 0, size, to, 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

 private:
  cl_device_id device_;
  cl_context context_;
  cl_command_queue queue_;
  cl_program program_;
};

}  // namespace

std::vector<std::unique_ptr<Device>> opencl_devices(const std::string& text) {
  std::vector<std::unique_ptr<Device>> found;
  cl_platform_id platforms[8];
  cl_uint count = 0;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) count = 0;
  for (cl_uint p = 0; p < count; ++p) {
    cl_device_id device;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      continue;
    }
    try {
      found.push_back(std::make_unique<OpenClDevice>(device, text));
    } catch (const std::exception& error) {
      std::printf("opencl platform %u: %s\n", p, error.what());
    }
  }
  return found;
}

}  // namespace spike
