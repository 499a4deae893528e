// The OpenCL loader, opened at run time: a program without it starts all the same.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace impipe::opencl {

#define IMPIPE_OPENCL_CALLS(call)                                                                  \
  call(clGetPlatformIDs) call(clGetPlatformInfo) call(clGetDeviceIDs) call(clGetDeviceInfo)        \
      call(clCreateContext) call(clReleaseContext) call(clCreateCommandQueue)                      \
          call(clReleaseCommandQueue) call(clCreateBuffer) call(clCreateSubBuffer)                 \
              call(clReleaseMemObject) call(clCreateProgramWithSource)                             \
                  call(clCreateProgramWithBinary) call(clBuildProgram) call(clGetProgramBuildInfo) \
                      call(clGetProgramInfo) call(clReleaseProgram) call(clCreateKernel)           \
                          call(clReleaseKernel) call(clSetKernelArg) call(clEnqueueNDRangeKernel)  \
                              call(clEnqueueReadBuffer) call(clEnqueueWriteBuffer)                 \
                                  call(clEnqueueReadBufferRect) call(clEnqueueWriteBufferRect)     \
                                      call(clEnqueueFillBuffer) call(clEnqueueMarkerWithWaitList)  \
                                          call(clWaitForEvents) call(clReleaseEvent)               \
                                              call(clGetEventProfilingInfo) call(clFlush)          \
                                                  call(clFinish) call(clGetEventInfo)              \
                                                      call(clEnqueueCopyBuffer)                    \
                                                          call(clRetainContext)

// The functions of the loader, by their own names.
struct Calls {
#define IMPIPE_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  IMPIPE_OPENCL_CALLS(IMPIPE_OPENCL_MEMBER)
#undef IMPIPE_OPENCL_MEMBER
};

// Null when there is no loader: loader_problem says what is missing.
const Calls* calls();
const std::string& loader_problem();

// Throws Error (ExitCode::backend) unless code is CL_SUCCESS: "opencl: ACTION failed: CL_…".
void check(cl_int code, const std::string& action);

}  // namespace impipe::opencl
