// The table of forms: each form that can make an image makes the CPU's bits, and the chosen one is
// the cheapest by its estimate.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "backends/cpu/device.hpp"
#include "backends/jit/choose/choose.hpp"
#include "backends/jit/choose/chooser.hpp"
#include "backends/opencl/device.hpp"
#include "backends/registry.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/backend_compare.hpp"

namespace impipe::testing {
namespace {

struct FormCase {
  const char* pipeline;
  PixelClass cls;
};
// Each form makes one of these at least. Windows are small, for PoCL compiles large ones for
// minutes.
const FormCase cases[] = {
    {"medfilt2 3", PixelClass::single},        {"imdilate square,9", PixelClass::uint8},
    {"imerode disk,2", PixelClass::single},    {"imgaussfilt 0.7", PixelClass::uint8},
    {"imresize 0.5", PixelClass::uint8},       {"imresize 1.7", PixelClass::single},
    {"imresize 3 nearest", PixelClass::uint8}, {"imrotate 20 bilinear", PixelClass::uint8},
    {"transpose", PixelClass::uint16},
};

// Of a pipeline's last kernel.
SpecCase kernel_of(const FormCase& c) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(c.pipeline));
  const ImageType type{.cls = c.cls, .channels = 1, .white = class_max(c.cls)};
  const Plan plan = pipeline::fuse(pipeline::lower(pipeline, type, {}));
  return {.name = c.pipeline, .spec = plane_kernel(plan.steps.back().kernel).spec};
}

std::vector<FormCost> costs_of(const KernelSpec& spec) {
  const jit::Tuning tuning = jit::tuning_for("nvidia", jit::Dialect::opencl);
  for (const jit::NodePlan& node : jit::choose(spec, tuning, jit::Dialect::opencl).nodes) {
    if (node.costs.size() > 1) return node.costs;
  }
  return {};
}

TEST(Forms, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const jit::FormRow* row : jit::all_forms()) EXPECT_TRUE(names.insert(row->name).second);
  EXPECT_EQ(names.size(), jit::all_forms().size());
}

TEST(Forms, TheCheapestOfSeveralIsTaken) {
  for (const FormCase& c : cases) {
    const std::vector<FormCost> costs = costs_of(kernel_of(c).spec);
    ASSERT_GE(costs.size(), 2u) << c.pipeline;
    for (std::size_t i = 1; i < costs.size(); ++i) {
      EXPECT_LE(costs[i - 1].microseconds, costs[i].microseconds) << c.pipeline;
    }
  }
}

TEST(Forms, HaveTheBitsOfTheCpu) {
  if (std::getenv("IMPIPE_VENDOR") != nullptr) GTEST_SKIP() << "IMPIPE_VENDOR is set";
  constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};
  constexpr Size sizes[] = {{1, 1}, {37, 3}, {70, 45}};
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  setenv("IMPIPE_VENDOR", "nvidia", 1);  // the row that has all forms
  std::set<std::string_view> made;
  for (const FormCase& c : cases) {
    const SpecCase spec = kernel_of(c);
    for (const FormCost& cost : costs_of(spec.spec)) {
      backends::choose_variant({.form = std::string(cost.form)});
      const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
      backends::choose_variant({});
      if (device == nullptr) break;
      Comparison comparison(spec, *cpu, *device);
      for (const Size size : sizes) {
        EXPECT_EQ(comparison.difference(size, 7), "")
            << c.pipeline << ", " << cost.form << " at " << to_string(size);
      }
      made.insert(cost.form);
    }
  }
  unsetenv("IMPIPE_VENDOR");
  if (made.empty()) GTEST_SKIP() << "no OpenCL device";
  // Chains are CUDA's.
  EXPECT_EQ(made.size() + 1, jit::all_forms().size());
}

}  // namespace
}  // namespace impipe::testing
