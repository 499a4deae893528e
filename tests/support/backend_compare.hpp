// Runs a kernel of the table on two devices and compares every bit of the results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/plane_kernel.hpp"
#include "support/kernel_specs.hpp"

namespace impipe::testing {

class Comparison {
 public:
  Comparison(const SpecCase& spec, Device& expected, Device& tested);
  // Empty when the results are equal (NaN equals NaN), else what differs first.
  // nans: floats of the upper left quarter are NaN.
  std::string difference(Size size, unsigned seed, bool nans = false);
  // The same of a stack of different images on the tested device, each expected alone.
  std::string stack_difference(Size size, unsigned seed);
  // Of these images, one an input.
  std::string difference(const std::vector<Planes>& images);

 private:
  struct Side {
    Device& device;
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<Queue> queue;
    std::vector<std::shared_ptr<DeviceMeasure>> measures;  // one an input that is one
  };
  struct Results {
    std::vector<Planes> images;  // one an output, empty for measurements
    std::vector<std::vector<double>> measures;
  };
  Side prepare(Device& device) const;
  Results run(Side& side, const std::vector<Planes>& images) const;
  std::vector<Planes> random_images(Size size, unsigned seed, bool nans) const;
  std::vector<Size> sizes_of_nodes(const std::vector<Planes>& images) const;
  static std::string compare(const Results& a, const Results& b);

  const KernelSpec& spec_;
  PlaneKernel planes_;  // what the devices run
  Side expected_, tested_;
};

// Compiles the kernels side by side, so that comparisons find them in the cache. Not under
// Oclgrind, which is for one thread (IMPIPE_TEST_EXACT_BUFFERS).
void compile(Device& device, const std::vector<SpecCase>& specs, bool stacked = false);

// The first usable GPU of a backend, else its first usable device; null when there is none. Throws
// std::runtime_error then if IMPIPE_REQUIRE_BACKEND names the backend.
std::unique_ptr<Device> device_of(const Backend& backend, ThreadPool& pool);

}  // namespace impipe::testing
