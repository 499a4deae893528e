// CUB's device-wide calls for the rows of table.py, behind functions that Python loads.
#include <cuda_runtime.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>
#include <cuda/std/tuple>

namespace {

using Byte = unsigned char;

struct StretchBytes {
  __device__ Byte operator()(Byte x) const {
    return static_cast<Byte>(rintf(fminf(fmaxf((x / 255.f - .2f) / .6f, 0.f), 1.f) * 255.f));
  }
};
struct StretchFloats {
  __device__ float operator()(float x) const {
    return fminf(fmaxf((x - .2f) / .6f, 0.f), 1.f);
  }
};
struct SumBytes {
  __device__ Byte operator()(Byte x, Byte y) const {
    return static_cast<Byte>(rintf(.5f * x + .3f * y));
  }
};
struct SumFloats {
  __device__ float operator()(float x, float y) const { return .5f * x + .3f * y; }
};

}  // namespace

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" int cub_stretch(int floats, const void* a, void* out, int count, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  if (floats != 0) {
    return cub::DeviceTransform::Transform(static_cast<const float*>(a), static_cast<float*>(out),
                                           count, StretchFloats{}, queue);
  }
  return cub::DeviceTransform::Transform(static_cast<const Byte*>(a), static_cast<Byte*>(out),
                                         count, StretchBytes{}, queue);
}

extern "C" int cub_sum_of_two(int floats, const void* a, const void* b, void* out, int count,
                              void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  if (floats != 0) {
    return cub::DeviceTransform::Transform(
        cuda::std::make_tuple(static_cast<const float*>(a), static_cast<const float*>(b)),
        static_cast<float*>(out), count, SumFloats{}, queue);
  }
  return cub::DeviceTransform::Transform(
      cuda::std::make_tuple(static_cast<const Byte*>(a), static_cast<const Byte*>(b)),
      static_cast<Byte*>(out), count, SumBytes{}, queue);
}

// out: the sum, unsigned of bytes, float of floats.
extern "C" int cub_total(int floats, const void* a, void* out, int count, void* scratch,
                         size_t room, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  if (floats != 0) {
    return cub::DeviceReduce::Sum(scratch, room, static_cast<const float*>(a),
                                  static_cast<float*>(out), count, queue);
  }
  return cub::DeviceReduce::Sum(scratch, room, static_cast<const Byte*>(a),
                                static_cast<unsigned*>(out), count, queue);
}

extern "C" int cub_histogram(const void* a, void* out, int count, void* scratch, size_t room,
                             void* stream) {
  return cub::DeviceHistogram::HistogramEven(scratch, room, static_cast<const Byte*>(a),
                                             static_cast<int*>(out), 257, 0, 256, count,
                                             static_cast<cudaStream_t>(stream));
}
