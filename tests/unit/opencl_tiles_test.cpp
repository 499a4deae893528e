// Kernels with two phases, and measurements by many groups, have the CPU's bits.
#include <gtest/gtest.h>

#include "backends/opencl/device.hpp"
#include "support/backend_compare.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};

TEST(OpenClTiles, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_bits_of_the_cpu(some_of(tiled_specs(), 3), tile_sizes, *device);
  expect_bits_of_the_cpu(some_of(chained_specs(), 3), tile_sizes, *device);
}

TEST(OpenClManyWeights, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_bits_of_the_cpu(many_weight_specs(), tile_sizes, *device);
  expect_numbers_beside_none(*device);
}

TEST(OpenClPoints, BeforeNeighbourhoodsHaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_bits_of_the_cpu(pointed_specs(), pointed_sizes, *device);
}

TEST(OpenClPoints, QuotientsByWhiteAreThoseOfTrueDivision) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_true_quotients_by_white(*device);
}

TEST(OpenClPoints, StretchesOfAllCodesAreThoseOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_stretches_of_all_codes(*device);
}

TEST(OpenClPoints, QuotientsOfCodesAreThoseOfTrueDivision) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_quotients_of_codes(*device);
}

TEST(OpenClMoves, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_bits_of_the_cpu(moved_specs(), tile_sizes, *device);
}

TEST(OpenClBytes, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_bits_of_the_cpu(byte_specs(), byte_sizes, *device);
}

TEST(OpenClMeasurements, HaveTheBitsOfTheCpu) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  expect_bits_of_the_cpu(measured_specs(), measured_sizes, *device);
}

}  // namespace
}  // namespace impipe::testing
