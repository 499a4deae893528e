// Kernels with two phases, at sizes around those of their tiles, have the CPU's bits.
#include <gtest/gtest.h>

#include "backends/cpu/device.hpp"
#include "backends/opencl/device.hpp"
#include "support/backend_compare.hpp"
#include "support/masks.hpp"

namespace impipe::testing {
namespace {

constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};

KernelInput image(PixelClass cls, int channels) {
  return {.cls = cls, .channels = channels, .white = class_max(cls)};
}

SpecCase of_one(const std::string& name, Primitive primitive, std::vector<double> arguments,
                PixelClass cls, int channels) {
  Node node{.primitive = std::move(primitive),
            .images = {{true, 0}},
            .cls = cls,
            .channels = channels,
            .white = class_max(cls)};
  for (const double value : arguments) node.arguments.push_back({.value = value});
  return {name + " " + std::string(name_of(cls)) + " x" + std::to_string(channels),
          {{image(cls, channels)}, {node}, {0}},
          1};
}

std::vector<double> weights(int count, bool with_border) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back((i % 5 + 0.25) / count);
  if (with_border) out.push_back(0.5);
  return out;
}

std::vector<SpecCase> tiled_specs() {
  std::vector<SpecCase> specs;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate, Border::symmetric}) {
      const std::string of = " " + std::string(name_of(border));
      const bool value = border == Border::constant;
      specs.push_back(
          of_one("separable 33x33" + of,
                 Separable{.row = rectangle(33, 1), .column = rectangle(1, 33), .border = border},
                 weights(66, value), cls, 1));
      specs.push_back(
          of_one("separable 7x5" + of,
                 Separable{.row = rectangle(7, 1), .column = rectangle(1, 5), .border = border},
                 weights(12, value), cls, 3));
    }
  }
  Mask gap = rectangle(9, 1);
  gap.cells[2] = gap.cells[8] = 0;
  specs.push_back(of_one("separable with gaps", Separable{.row = gap, .column = rectangle(1, 3)},
                         weights(10, true), PixelClass::uint16, 1));
  return specs;
}

constexpr Size sizes[] = {{1, 300}, {300, 1}, {64, 128}, {131, 67}, {200, 290}};

TEST(OpenClTiles, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  for (const SpecCase& spec : tiled_specs()) {
    try {
      Comparison comparison(spec, *cpu, *device);
      for (const Size size : sizes) {
        EXPECT_EQ(comparison.difference(size, 7), "") << spec.name << " at " << to_string(size);
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << spec.name << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace impipe::testing
