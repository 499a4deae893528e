// CUDA C dialect.
#define FUNCTION static __device__ __forceinline__
#define KERNEL extern "C" __global__
#define GLOBAL
#define LOCAL __shared__
#define GLOBAL_X ((long)blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_Y ((long)blockIdx.y * blockDim.y + threadIdx.y)
#define LOCAL_X ((int)threadIdx.x)
#define SIZE_X ((int)blockDim.x)
#define BARRIER __syncthreads()
typedef unsigned char uchar;
