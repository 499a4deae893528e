// Medians of large windows on a GPU have the CPU's bits on contents that take their search over
// most codes at once: edges between far values, few values, ramps. So have ranks of bytes under
// masks that slide by the ends of their columns, and of all classes under masks whose windows are
// put in order together.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/opencl/device.hpp"
#include "support/backend_compare.hpp"
#include "support/masks.hpp"

namespace impipe::testing {
namespace {

constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};
constexpr Backend cuda_backend{"cuda", cuda::devices, cuda::open};

using Content = std::function<int(int x, int y)>;  // 0 to 255

SpecCase median_case(int side, PixelClass cls) {
  const int cells = side * side;
  Node node{
      .primitive =
          Rank{.mask = rectangle(side, side), .rank = (cells - 1) / 2, .average = cells % 2 == 0},
      .images = {{true, 0}},
      .cls = cls,
      .channels = 1,
      .white = class_max(cls)};
  KernelSpec spec;
  spec.inputs = {{.cls = cls, .channels = 1, .white = class_max(cls)}};
  spec.nodes = {node};
  spec.outputs = {0};
  return {"median " + std::to_string(side) + " " + std::string(name_of(cls)), spec, 1};
}

// Among the floats are both zeros and NaN.
float single_of(int v) {
  if (v == 250) return std::numeric_limits<float>::quiet_NaN();
  return v == 3 ? -0.0f : static_cast<float>(v - 4) * 0.37f;
}

Planes drawn(PixelClass cls, Size size, const Content& content) {
  Plane plane(cls, size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const int v = content(x, y);
      if (cls == PixelClass::uint8) {
        plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(v);
      } else if (cls == PixelClass::uint16) {
        plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(v * 257);
      } else {
        plane.row_as<float>(y)[x] = single_of(v);
      }
    }
  }
  return {plane};
}

const std::vector<Content> contents = {
    [](int x, int y) { return (x / 16 + y / 16) % 2 * 255; },
    [](int x, int y) { return ((x / 40 + y / 40) % 2 == 0 ? 3 : 250) + (x * 7 + y * 5) % 4; },
    [](int x, int y) { return y / 9 % 5 * 63 + x / 30; },
    [](int x, int y) { return (x * 5 + y * 11) % 256; },
    [](int, int y) { return y % 2 == 0 ? 255 : 0; },
    [](int, int) { return 255; }};

void compare_medians(const Backend& backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  for (const int side : {6, 7, 9, 10, 15, 16, 31, 48}) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      const SpecCase spec = median_case(side, cls);
      Comparison comparison(spec, *cpu, *device);
      for (std::size_t i = 0; i < contents.size(); ++i) {
        EXPECT_EQ(comparison.difference({drawn(cls, {150, 100}, contents[i])}), "")
            << spec.name << " of content " << i;
      }
    }
  }
}

// Masks of bytes: fewer cells than a byte counts and more, more columns than registers hold words
// of, columns of several runs, and some that do not reach around their pixel.
std::vector<Mask> masks_of_columns() {
  std::mt19937 random(7);
  Mask aside = disk(4), above = disk(4);
  aside.origin_x = -3;
  above.origin_y = 13;
  return {disk(10), disk(25), random_mask(random, 12, 9, 0.7), aside, above};
}

void compare_masks(const Backend& backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const std::vector<Border> borders = {Border::constant, Border::replicate, Border::symmetric};
  const std::vector<Mask> masks = masks_of_columns();
  for (std::size_t m = 0; m < masks.size(); ++m) {
    SpecCase spec = median_case(5, PixelClass::uint8);
    spec.name = "mask " + std::to_string(m);
    Rank& rank = std::get<Rank>(spec.spec.nodes[0].primitive);
    rank = {.mask = masks[m],
            .rank = masks[m].count() / 3,
            .average = m % 2 == 1,
            .border = borders[m % borders.size()]};
    Comparison comparison(spec, *cpu, *device);
    for (std::size_t i = 0; i < contents.size(); ++i) {
      for (const Size size : {Size{150, 101}, Size{7, 5}}) {
        EXPECT_EQ(comparison.difference({drawn(PixelClass::uint8, size, contents[i])}), "")
            << spec.name << " of content " << i << ", " << size.width << " wide";
      }
    }
  }
}

// Flat, tall and round ones, and a line whose windows share nothing.
void compare_shared(const Backend& backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  for (const Mask& mask : {rectangle(31, 3), rectangle(3, 20), disk(4), diagonal(21)}) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      SpecCase spec = median_case(5, cls);
      Rank& rank = std::get<Rank>(spec.spec.nodes[0].primitive);
      rank = {.mask = mask,
              .rank = mask.count() / 3,
              .average = mask.width == 3,
              .border = Border::symmetric};
      Comparison comparison(spec, *cpu, *device);
      for (std::size_t i = 0; i < contents.size(); ++i) {
        for (const Size size : {Size{150, 101}, Size{7, 5}}) {
          EXPECT_EQ(comparison.difference({drawn(cls, size, contents[i])}), "")
              << mask.width << "x" << mask.height << " " << name_of(cls) << " of content " << i
              << ", " << size.width << " wide";
        }
      }
    }
  }
}

TEST(OpenClMedians, HaveTheBitsOfTheCpu) { compare_medians(opencl_backend); }
TEST(CudaMedians, HaveTheBitsOfTheCpu) { compare_medians(cuda_backend); }
TEST(OpenClMedians, UnderMasksHaveTheBitsOfTheCpu) { compare_masks(opencl_backend); }
TEST(CudaMedians, UnderMasksHaveTheBitsOfTheCpu) { compare_masks(cuda_backend); }
TEST(OpenClMedians, OfSharedWindowsHaveTheBitsOfTheCpu) { compare_shared(opencl_backend); }
TEST(CudaMedians, OfSharedWindowsHaveTheBitsOfTheCpu) { compare_shared(cuda_backend); }

}  // namespace
}  // namespace impipe::testing
