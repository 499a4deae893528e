// Every kernel of the table on OpenCL has the CPU's bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "backends/cpu/device.hpp"
#include "backends/opencl/device.hpp"
#include "core/primitive_facts.hpp"
#include "support/backend_compare.hpp"

namespace impipe::testing {
namespace {

constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};

constexpr Size sizes[] = {{1, 1}, {1, 40}, {37, 1}, {31, 17}, {70, 45}};

TEST(OpenClKernels, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const std::vector<SpecCase> specs = chosen_specs();
  compile(*device, specs);
  for (const SpecCase& spec : specs) {
    try {
      Comparison comparison(spec, *cpu, *device);
      for (const Size size : sizes) {
        if (std::min(size.width, size.height) < spec.least) continue;
        if (std::max(size.width, size.height) > spec.most) continue;
        std::string found = comparison.difference(size, 7);
        if (found.empty()) found = comparison.difference(size, 8, true);
        EXPECT_EQ(found, "") << spec.name << " at " << to_string(size);
        if (!found.empty()) break;
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << spec.name << ": " << e.what();
    }
  }
}

// The histogram of a spec's pairs, of codes that are there.
SpecCase of_codes(SpecCase spec) {
  Node histogram = spec.spec.nodes[1];
  histogram.images = {{true, 0}};
  spec.spec.inputs = {{.cls = PixelClass::uint16, .channels = 1, .white = 65535}};
  spec.spec.nodes = {histogram};
  spec.spec.outputs = {0};
  return spec;
}

Planes plane_of(PixelClass cls, Size size, const std::function<int(int x)>& content) {
  Plane plane(cls, size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      if (cls == PixelClass::uint16) {
        plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(content(x));
      } else {
        plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(content(x));
      }
    }
  }
  return {plane};
}

// A group of the kernel gets some 150,000 pixels, and a field holds 65,535: all in one, and in the
// two of a word.
TEST(OpenClKernels, WideHistogramsOfManyPixels) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const SpecCase spec = spec_named("histogram of few pairs"), single = of_codes(spec);
  constexpr Size size{3001, 3100};
  Comparison pairs(spec, *cpu, *device);
  EXPECT_EQ(pairs.difference(size, 9), "");
  const Planes ones = plane_of(PixelClass::logical, size, [](int) { return 1; });
  EXPECT_EQ(pairs.difference({ones, ones}), "");
  Comparison codes(single, *cpu, *device);
  for (const std::int64_t run : {std::int64_t{1}, std::int64_t{2}, size.width}) {
    const auto content = [run](int x) { return static_cast<int>(x / run % 2 * 32768 + 300); };
    EXPECT_EQ(codes.difference({plane_of(PixelClass::uint16, size, content)}), "") << run;
  }
  const auto each_code = [](int x) { return x; };
  EXPECT_EQ(codes.difference({plane_of(PixelClass::uint16, {65536, 3}, each_code)}), "");
}

// A part of the table: each kernel is compiled once more.
TEST(OpenClKernels, StacksHaveTheBitsOfSingleImages) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCl device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const std::vector<SpecCase> specs = chosen_specs();
  for (std::size_t i = 0; i < specs.size(); i += 3) {
    const auto& nodes = specs[i].spec.nodes;
    if (std::any_of(nodes.begin(), nodes.end(),
                    [](const Node& node) { return stands_alone(node.primitive); })) {
      continue;
    }
    try {
      EXPECT_EQ(Comparison(specs[i], *cpu, *device).stack_difference({37, 21}, 5), "")
          << specs[i].name;
    } catch (const std::exception& e) {
      ADD_FAILURE() << specs[i].name << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace impipe::testing
