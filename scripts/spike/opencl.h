// OpenCL C dialect.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define FUNCTION static inline
#define KERNEL __kernel
#define GLOBAL __global
#define LOCAL __local
#define GLOBAL_X ((long)get_global_id(0))
#define GLOBAL_Y ((long)get_global_id(1))
#define LOCAL_X ((int)get_local_id(0))
#define SIZE_X ((int)get_local_size(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
