// NPP's calls for the rows of table.py, behind one function that Python loads.
#include <cuda_runtime.h>
#include <npp.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

// One call: resident pictures a and b, the result, scratch memory and small tables on the card.
struct Picture {
  int width, height;
  const void *a, *b;
  void* out;
  Npp8u* scratch;
  const float* weights;  // of `filter 7x7`, turned by 180 degrees, since NPP convolves
  const float* taps;     // of the gaussian
  const Npp8u* element;  // of the discs
  const Npp8u* table;    // of `stretch`
  const double* matrix;  // of the warps, on the host, from input to output
  double range, sigma;   // of the bilateral filter
  int size;              // side or radius, as the row has it
  NppStreamContext context;
};

constexpr NppiPoint origin{0, 0};
constexpr NppiBorderType border = NPP_BORDER_REPLICATE;

NppiSize size_of(const Picture& p) { return {p.width, p.height}; }
NppiSize square(int side) { return {side, side}; }
NppiPoint middle(int side) { return {side / 2, side / 2}; }
NppiRect whole(int width, int height) { return {0, 0, width, height}; }

using Call = std::function<int(const Picture&)>;
using Calls = std::map<std::string, Call>;

// The rows that NPP spells alike for each class and number of channels.
#define COMMON_ROWS(calls, Value, channels, suffix)                                                \
  do {                                                                                             \
    const auto step = [](int width) { return static_cast<int>(width * channels * sizeof(Value)); };\
    const auto from = [](const void* p) { return static_cast<const Value*>(p); };                  \
    const auto to = [](void* p) { return static_cast<Value*>(p); };                                \
    calls["median"] = [=](const Picture& p) {                                                      \
      return nppiFilterMedianBorder_##suffix##_Ctx(                                                \
          from(p.a), step(p.width), size_of(p), origin, to(p.out), step(p.width), size_of(p),      \
          square(p.size), middle(p.size), p.scratch, border, p.context);                           \
    };                                                                                             \
    calls["gaussian"] = [=](const Picture& p) {                                                    \
      return nppiFilterGaussAdvancedBorder_##suffix##_Ctx(                                         \
          from(p.a), step(p.width), size_of(p), origin, to(p.out), step(p.width), size_of(p),      \
          p.size, p.taps, border, p.context);                                                      \
    };                                                                                             \
    calls["box"] = [=](const Picture& p) {                                                         \
      return nppiFilterBoxBorder_##suffix##_Ctx(                                                   \
          from(p.a), step(p.width), size_of(p), origin, to(p.out), step(p.width), size_of(p),      \
          square(p.size), middle(p.size), border, p.context);                                      \
    };                                                                                             \
    calls["bilateral"] = [=](const Picture& p) {                                                   \
      return nppiFilterBilateralGaussBorder_##suffix##_Ctx(                                        \
          from(p.a), step(p.width), size_of(p), origin, to(p.out), step(p.width), size_of(p),      \
          p.size / 2, 1, static_cast<float>(p.range), static_cast<float>(p.sigma * p.sigma),       \
          border, p.context);                                                                      \
    };                                                                                             \
    calls["dilate square"] = [=](const Picture& p) {                                               \
      return nppiFilterMaxBorder_##suffix##_Ctx(                                                   \
          from(p.a), step(p.width), size_of(p), origin, to(p.out), step(p.width), size_of(p),      \
          square(p.size), middle(p.size), border, p.context);                                      \
    };                                                                                             \
    calls["dilate disk"] = [=](const Picture& p) {                                                 \
      const int side = 2 * p.size + 1;                                                             \
      return nppiDilateBorder_##suffix##_Ctx(                                                      \
          from(p.a), step(p.width), size_of(p), origin, to(p.out), step(p.width), size_of(p),      \
          p.element, square(side), middle(side), border, p.context);                               \
    };                                                                                             \
    calls["open square"] = [=](const Picture& p) {                                                 \
      Value* low = reinterpret_cast<Value*>(p.scratch);                                            \
      const int error = nppiFilterMinBorder_##suffix##_Ctx(                                        \
          from(p.a), step(p.width), size_of(p), origin, low, step(p.width), size_of(p),            \
          square(p.size), middle(p.size), border, p.context);                                      \
      return error ? error                                                                         \
                   : static_cast<int>(nppiFilterMaxBorder_##suffix##_Ctx(                          \
                         low, step(p.width), size_of(p), origin, to(p.out), step(p.width),         \
                         size_of(p), square(p.size), middle(p.size), border, p.context));          \
    };                                                                                             \
    calls["open disk"] = [=](const Picture& p) {                                                   \
      Value* low = reinterpret_cast<Value*>(p.scratch);                                            \
      const int side = 2 * p.size + 1;                                                             \
      const int error = nppiErodeBorder_##suffix##_Ctx(                                            \
          from(p.a), step(p.width), size_of(p), origin, low, step(p.width), size_of(p),            \
          p.element, square(side), middle(side), border, p.context);                               \
      return error ? error                                                                         \
                   : static_cast<int>(nppiDilateBorder_##suffix##_Ctx(                             \
                         low, step(p.width), size_of(p), origin, to(p.out), step(p.width),         \
                         size_of(p), p.element, square(side), middle(side), border, p.context));   \
    };                                                                                             \
    calls["transpose"] = [=](const Picture& p) {                                                   \
      return nppiTranspose_##suffix##_Ctx(from(p.a), step(p.width), to(p.out), step(p.height),     \
                                          size_of(p), p.context);                                  \
    };                                                                                             \
    const auto resized = [=](const Picture& p, int width, int height, int method) {                \
      return nppiResize_##suffix##_Ctx(from(p.a), step(p.width), size_of(p),                       \
                                       whole(p.width, p.height), to(p.out), step(width),           \
                                       {width, height}, whole(width, height), method, p.context);  \
    };                                                                                             \
    calls["resize 0.5 bilinear"] = [=](const Picture& p) {                                         \
      return resized(p, p.width / 2, p.height / 2, NPPI_INTER_SUPER);                              \
    };                                                                                             \
    calls["resize 2 bilinear"] = [=](const Picture& p) {                                           \
      return resized(p, p.width * 2, p.height * 2, NPPI_INTER_LINEAR);                             \
    };                                                                                             \
    calls["resize 2 bicubic"] = [=](const Picture& p) {                                            \
      return resized(p, p.width * 2, p.height * 2, NPPI_INTER_CUBIC);                              \
    };                                                                                             \
    calls["warp"] = [=](const Picture& p) {                                                        \
      const double(*matrix)[3] = reinterpret_cast<const double(*)[3]>(p.matrix);                   \
      cudaMemsetAsync(p.out, 0, static_cast<size_t>(step(p.width)) * p.height,                     \
                      p.context.hStream);                                                          \
      return nppiWarpAffine_##suffix##_Ctx(from(p.a), size_of(p), step(p.width),                   \
                                           whole(p.width, p.height), to(p.out), step(p.width),     \
                                           whole(p.width, p.height), matrix, NPPI_INTER_LINEAR,    \
                                           p.context);                                             \
    };                                                                                             \
  } while (false)

const Npp8u* bytes(const void* p) { return static_cast<const Npp8u*>(p); }
Npp8u* bytes(void* p) { return static_cast<Npp8u*>(p); }
const float* floats(const void* p) { return static_cast<const float*>(p); }
float* floats(void* p) { return static_cast<float*>(p); }

Calls gray_bytes() {
  Calls calls;
  COMMON_ROWS(calls, Npp8u, 1, 8u_C1R);
  calls["filter 7x7"] = [](const Picture& p) {
    return nppiFilterBorder32f_8u_C1R_Ctx(bytes(p.a), p.width, size_of(p), origin, bytes(p.out),
                                          p.width, size_of(p), p.weights, square(7), {3, 3}, border,
                                          p.context);
  };
  calls["sobel magnitude"] = [](const Picture& p) {
    return nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
        bytes(p.a), p.width, size_of(p), origin, nullptr, 0, nullptr, 0,
        static_cast<Npp16s*>(p.out), p.width * 2, nullptr, 0, size_of(p), NPP_MASK_SIZE_3_X_3,
        nppiNormL2, border, p.context);
  };
  calls["canny"] = [](const Picture& p) {
    return nppiFilterCannyBorder_8u_C1R_Ctx(
        bytes(p.a), p.width, size_of(p), origin, bytes(p.out), p.width, size_of(p),
        NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3, 40, 100, nppiNormL2, border, p.scratch, p.context);
  };
  calls["stretch"] = [](const Picture& p) {
    return nppiLUTPalette_8u_C1R_Ctx(bytes(p.a), p.width, bytes(p.out), p.width, size_of(p),
                                     p.table, 8, p.context);
  };
  calls["mean"] = [](const Picture& p) {
    return nppiMean_8u_C1R_Ctx(bytes(p.a), p.width, size_of(p), p.scratch,
                               static_cast<double*>(p.out), p.context);
  };
  calls["histogram"] = [](const Picture& p) {
    return nppiHistogramEven_8u_C1R_Ctx(bytes(p.a), p.width, size_of(p),
                                        static_cast<Npp32s*>(p.out), 257, 0, 256, p.scratch,
                                        p.context);
  };
  // Of masks: 0 and 1 as bytes.
  calls["distance"] = [](const Picture& p) {
    return nppiDistanceTransformPBA_8u32f_C1R_Ctx(
        const_cast<Npp8u*>(bytes(p.a)), p.width, 1, 255, nullptr, 0, nullptr, 0, nullptr, 0,
        floats(p.out), p.width * 4, size_of(p), p.scratch, p.context);
  };
  calls["label"] = [](const Picture& p) {
    return nppiLabelMarkersUF_8u32u_C1R_Ctx(const_cast<Npp8u*>(bytes(p.a)), p.width,
                                            static_cast<Npp32u*>(p.out), p.width * 4, size_of(p),
                                            nppiNormInf, p.scratch, p.context);
  };
  return calls;
}

Calls colour_bytes() {
  Calls calls;
  COMMON_ROWS(calls, Npp8u, 3, 8u_C3R);
  calls["filter 7x7"] = [](const Picture& p) {
    return nppiFilterBorder32f_8u_C3R_Ctx(bytes(p.a), p.width * 3, size_of(p), origin,
                                          bytes(p.out), p.width * 3, size_of(p), p.weights,
                                          square(7), {3, 3}, border, p.context);
  };
  calls["stretch"] = [](const Picture& p) {
    const Npp8u* tables[3] = {p.table, p.table, p.table};
    return nppiLUTPalette_8u_C3R_Ctx(bytes(p.a), p.width * 3, bytes(p.out), p.width * 3,
                                     size_of(p), tables, 8, p.context);
  };
  calls["rgb to gray"] = [](const Picture& p) {
    return nppiRGBToGray_8u_C3C1R_Ctx(bytes(p.a), p.width * 3, bytes(p.out), p.width, size_of(p),
                                      p.context);
  };
  calls["rgb to hsv"] = [](const Picture& p) {
    return nppiRGBToHSV_8u_C3R_Ctx(bytes(p.a), p.width * 3, bytes(p.out), p.width * 3, size_of(p),
                                   p.context);
  };
  calls["rgb to ycbcr"] = [](const Picture& p) {
    return nppiRGBToYCbCr_8u_C3R_Ctx(bytes(p.a), p.width * 3, bytes(p.out), p.width * 3,
                                     size_of(p), p.context);
  };
  return calls;
}

Calls gray_floats() {
  Calls calls;
  COMMON_ROWS(calls, Npp32f, 1, 32f_C1R);
  calls["filter 7x7"] = [](const Picture& p) {
    return nppiFilterBorder_32f_C1R_Ctx(floats(p.a), p.width * 4, size_of(p), origin,
                                        floats(p.out), p.width * 4, size_of(p), p.weights,
                                        square(7), {3, 3}, border, p.context);
  };
  calls["sobel magnitude"] = [](const Picture& p) {
    return nppiGradientVectorSobelBorder_32f_C1R_Ctx(
        floats(p.a), p.width * 4, size_of(p), origin, nullptr, 0, nullptr, 0, floats(p.out),
        p.width * 4, nullptr, 0, size_of(p), NPP_MASK_SIZE_3_X_3, nppiNormL2, border, p.context);
  };
  calls["mean"] = [](const Picture& p) {
    return nppiMean_32f_C1R_Ctx(floats(p.a), p.width * 4, size_of(p), p.scratch,
                                static_cast<double*>(p.out), p.context);
  };
  calls["stretch"] = [](const Picture& p) {
    const int step = p.width * 4;
    int error = nppiMulC_32f_C1R_Ctx(floats(p.a), step, 1 / 0.6f, floats(p.out), step, size_of(p),
                                     p.context);
    error = error ? error
                  : static_cast<int>(nppiSubC_32f_C1IR_Ctx(0.2f / 0.6f, floats(p.out), step,
                                                           size_of(p), p.context));
    return error ? error
                 : static_cast<int>(nppiThreshold_LTValGTVal_32f_C1IR_Ctx(
                       floats(p.out), step, size_of(p), 0, 0, 1, 1, p.context));
  };
  return calls;
}

Calls colour_floats() {
  Calls calls;
  COMMON_ROWS(calls, Npp32f, 3, 32f_C3R);
  calls["filter 7x7"] = [](const Picture& p) {
    return nppiFilterBorder_32f_C3R_Ctx(floats(p.a), p.width * 12, size_of(p), origin,
                                        floats(p.out), p.width * 12, size_of(p), p.weights,
                                        square(7), {3, 3}, border, p.context);
  };
  calls["rgb to gray"] = [](const Picture& p) {
    return nppiRGBToGray_32f_C3C1R_Ctx(floats(p.a), p.width * 12, floats(p.out), p.width * 4,
                                       size_of(p), p.context);
  };
  return calls;
}

NppStreamContext context_of(cudaStream_t stream) {
  NppStreamContext context{};
  cudaDeviceProp properties;
  cudaGetDevice(&context.nCudaDeviceId);
  cudaGetDeviceProperties(&properties, context.nCudaDeviceId);
  context.hStream = stream;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  cudaStreamGetFlags(stream, &context.nStreamFlags);
  return context;
}

}  // namespace

// kind: 0 gray bytes, 1 colour bytes, 2 gray floats, 3 colour floats. Returns NPP's status: 0 is
// success, above 0 a warning; -9999 where there is no such row.
extern "C" int npp_call(const char* row, int kind, int width, int height, const void* a,
                        const void* b, void* out, void* scratch, const void* weights,
                        const void* taps, const void* element, const void* table,
                        const double* matrix, double range, double sigma, int size, void* stream) {
  static const Calls calls[4] = {gray_bytes(), colour_bytes(), gray_floats(), colour_floats()};
  static std::map<void*, NppStreamContext> contexts;
  if (!contexts.count(stream)) contexts[stream] = context_of(static_cast<cudaStream_t>(stream));
  const auto found = calls[kind].find(row);
  if (found == calls[kind].end()) return -9999;
  const Picture picture{width, height, a, b, out, static_cast<Npp8u*>(scratch), floats(weights),
                        floats(taps), bytes(element), bytes(table), matrix, range, sigma, size,
                        contexts[stream]};
  return found->second(picture);
}

extern "C" int npp_has(const char* row, int kind) {
  const Calls calls[4] = {gray_bytes(), colour_bytes(), gray_floats(), colour_floats()};
  return static_cast<int>(calls[kind].count(row));
}

extern "C" const char* npp_version() {
  static std::string text;
  const NppLibraryVersion* version = nppGetLibVersion();
  text = std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->build);
  return text.c_str();
}
