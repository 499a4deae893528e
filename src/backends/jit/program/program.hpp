// What a kernel becomes: the text of a program, and what to launch of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/coded_jpeg.hpp"
#include "core/kernel_spec.hpp"
#include "core/packed_picture.hpp"

namespace impipe {
struct DeviceArray;
}

namespace impipe::jit {

// opencl_nvidia: with instructions of NVIDIA's in its text.
enum class Dialect { opencl, opencl_nvidia, cuda };

// Rows of a plane on a device start at multiples of this many bytes, and so do planes. Kernels may
// read and write what lies between the end of a row and the next row.
inline constexpr std::int64_t row_alignment = 128;

// Bytes from one row of a plane to the next, on a device.
std::int64_t row_bytes(PixelClass cls, Size size);

// An image or measurement that enters or leaves a launch.
struct ValueShape {
  Size size;                // images
  std::int64_t stride = 0;  // images: bytes from row to row
  std::int64_t step = 0;    // bytes from plane to plane, or from channel to channel
  int channels = 1;         // of each image of the stack, which lie behind each other
  int count = 1;            // images of the stack
};

struct LaunchValues {
  const KernelSpec* spec = nullptr;         // of the same key, with this launch's argument values
  std::span<const ValueShape> inputs;       // one a kernel input
  std::span<const ValueShape> outputs;      // one a kernel output
  int count = 1;                            // planes: images of the stack times KernelSpec::planes
  std::span<const CodedJpeg* const> jpegs;  // of a decoder: see Launch
  std::span<const PackedPicture* const> packed = {};
  const PackedForm* packing = nullptr;
  std::span<const std::uint8_t> glows = {};
  const DeviceArray* array = nullptr;  // see Launch
};

// Memory a launch needs for itself, on the device, aligned as planes are.
struct Scratch {
  std::int64_t bytes = 0;
  bool cleared = false;  // zeros before the first pass
  // Zeros before the lane's first launch, and left as zeros by every launch that uses it: the lane
  // has one for all its kernels. At most ticket_bytes.
  bool kept = false;
  std::vector<std::byte> contents;  // copied to its start before the first pass
  // And behind them, one after the other: they belong to the launch's values.
  std::vector<std::span<const std::byte>> parts = {};
};

struct Buffer {
  enum class Kind { input, output, scratch } kind = Kind::input;
  int index = 0;  // of the kernel's inputs, outputs, or LaunchPlan::scratch
  bool operator==(const Buffer&) const = default;
};

// Planes of a stack at most: groups of the third index.
inline constexpr int max_stacked = 1024;

// As many as the planes of a stack need, or for one image 65,536 counters behind its tickets.
inline constexpr std::int64_t ticket_bytes =
    std::max(max_stacked * row_alignment, row_alignment + std::int64_t{4} * 65536);
inline constexpr int ticket_words = static_cast<int>(row_alignment / 4);

// Tuning::groups_at_once for each plane of a stack, at least: the planes make up for it.
inline constexpr int groups_of_stacked = 16;

// CUDA: grid and block. OpenCL: global size = groups * group.
struct LaunchShape {
  std::array<std::int64_t, 3> groups{1, 1, 1};
  std::array<int, 3> group{1, 1, 1};
};

struct Pass {
  int entry = 0;  // into Program::entries
  LaunchShape shape;
  std::vector<Buffer> buffers;
  std::vector<std::byte> parameters = {};  // in place of the plan's, where there are any
};

struct LaunchPlan {
  std::vector<std::byte> parameters;
  std::vector<Scratch> scratch;
  std::vector<Pass> passes;

  const std::vector<std::byte>& parameters_of(const Pass& pass) const {
    return pass.parameters.empty() ? parameters : pass.parameters;
  }
};

struct Program {
  std::string source;  // complete, compiles alone
  std::string plan;    // what it is made by, in words, as comments; no part of the source
  std::vector<std::string> entries;  // names of the kernels in it
  // CUDA: dynamic shared memory of each; none where it is empty. OpenCL kernels declare theirs.
  std::vector<int> local_bytes;
  // OpenCL of NVIDIA's: registers that a work-item may take, so that the groups its kernels want
  // fit on a processor at once; 0: any. CUDA's text says it itself.
  int max_registers = 0;
  std::function<LaunchPlan(const LaunchValues&)> launch;  // any thread
};

}  // namespace impipe::jit
