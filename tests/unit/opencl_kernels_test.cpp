// Every kernel of the table on OpenCL has the CPU's bits.
#include <gtest/gtest.h>

#include <algorithm>

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
        const std::string found = comparison.difference(size, 7);
        EXPECT_EQ(found, "") << spec.name << " at " << to_string(size);
        if (!found.empty()) break;
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << spec.name << ": " << e.what();
    }
  }
}

// A group of the kernel gets some 150,000 pixels, and a field holds 65,535.
TEST(OpenClKernels, WideHistogramsOfManyPixels) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const SpecCase& spec = spec_named("histogram of few pairs");
  EXPECT_EQ(Comparison(spec, *cpu, *device).difference({3001, 3100}, 9), "");
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
