// Every kernel of the table on CUDA has the CPU's bits. Left out where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"
#include "core/primitive_facts.hpp"
#include "support/backend_compare.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

constexpr Backend cuda_backend{"cuda", cuda::devices, cuda::open};

constexpr Size sizes[] = {{1, 1}, {1, 40}, {37, 1}, {31, 17}, {70, 45}, {1003, 777}};

// All of the table, or the part that IMPIPE_TEST_TABLE=few or IMPIPE_TEST_SPEC names.
std::vector<SpecCase> wanted_specs() {
  const char* table = std::getenv("IMPIPE_TEST_TABLE");
  const bool part = std::getenv("IMPIPE_TEST_SPEC") != nullptr ||
                    (table != nullptr && std::string(table) == "few");
  return part ? chosen_specs() : kernel_specs();
}

TEST(CudaKernels, HaveTheBitsOfTheCpu) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const std::vector<SpecCase> specs = wanted_specs();
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

TEST(CudaKernels, StacksHaveTheBitsOfSingleImages) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  std::vector<SpecCase> specs = wanted_specs();
  std::erase_if(specs, [](const SpecCase& spec) {
    return std::any_of(spec.spec.nodes.begin(), spec.spec.nodes.end(),
                       [](const Node& node) { return stands_alone(node.primitive); });
  });
  compile(*device, specs, true);
  for (const SpecCase& spec : specs) {
    try {
      EXPECT_EQ(Comparison(spec, *cpu, *device).stack_difference({137, 61}, 5), "") << spec.name;
    } catch (const std::exception& e) {
      ADD_FAILURE() << spec.name << ": " << e.what();
    }
  }
}

TEST(CudaTiles, HaveTheBitsOfTheCpu) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  expect_bits_of_the_cpu(tiled_specs(), tile_sizes, *device);
  expect_numbers_beside_none(*device);
  std::vector<Size> chain_sizes = tile_sizes;
  chain_sizes.push_back({500, 9001});  // waves that lie inside, and strips of several turns
  expect_bits_of_the_cpu(chained_specs(), chain_sizes, *device);
  expect_bits_of_the_cpu(measured_specs(), measured_sizes, *device);
}

TEST(CudaMoves, HaveTheBitsOfTheCpu) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  expect_bits_of_the_cpu(moved_specs(), tile_sizes, *device);
}

TEST(CudaBytes, HaveTheBitsOfTheCpu) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  std::vector<Size> all = byte_sizes;
  all.push_back({4099, 4300});  // takes taller blocks
  expect_bits_of_the_cpu(byte_specs(), all, *device);
}

TEST(CudaPoints, BeforeNeighbourhoodsHaveTheBitsOfTheCpu) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  std::vector<SpecCase> specs = pointed_specs();
  expect_bits_of_the_cpu(specs, pointed_sizes, *device);
  std::erase_if(specs,
                [](const SpecCase& c) { return c.name.find("uint8 x1") == std::string::npos; });
  expect_bits_of_the_cpu(specs, {{4099, 4300}}, *device);  // takes taller blocks
}

TEST(CudaPoints, QuotientsByWhiteAreThoseOfTrueDivision) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  expect_true_quotients_by_white(*device);
}

TEST(CudaPoints, StretchesOfAllCodesAreThoseOfTheCpu) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  expect_stretches_of_all_codes(*device);
}

TEST(CudaPoints, QuotientsOfCodesAreThoseOfTrueDivision) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  expect_quotients_of_codes(*device);
}

TEST(CudaTransfers, BringBackWhatWasSent) {
  ThreadPool pool(3);
  const std::unique_ptr<Device> device = device_of(cuda_backend, pool);
  if (device == nullptr) GTEST_SKIP() << cuda::devices().front().why_not;
  const auto queue = device->make_queue();
  // From less than a piece of the staging memory to several, rows of all alignments.
  for (const Size size : {Size{1, 1}, Size{127, 3}, Size{129, 1}, Size{5000, 4000}}) {
    Planes image = new_planes(PixelClass::uint16, 3, size);
    unsigned state = 1;
    for (Plane& plane : image) {
      for (std::int64_t y = 0; y < size.height; ++y) {
        for (std::int64_t x = 0; x < size.width; ++x) {
          state = state * 1664525u + 1013904223u;
          plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(state >> 16);
        }
      }
    }
    const auto sent = queue->upload(image);
    const Planes back = queue->download(*sent);
    ASSERT_EQ(back.size(), image.size());
    for (std::size_t c = 0; c < image.size(); ++c) {
      const Plane& plane = image[c];
      for (std::int64_t y = 0; y < size.height; ++y) {
        ASSERT_TRUE(std::equal(plane.row(y), plane.row(y) + plane.row_bytes(), back[c].row(y)))
            << to_string(size) << ", channel " << c << ", row " << y;
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
