// The kernels of a benchmark's variants: those that were asked for, with the CPU's bits, and NVRTC
// compiles them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cpu/device.hpp"
#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/choose/choose.hpp"
#include "backends/jit/generator.hpp"
#include "backends/opencl/device.hpp"
#include "backends/registry.hpp"
#include "bench/variants.hpp"
#include "core/error.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/backend_compare.hpp"
#include "support/program_of.hpp"

namespace impipe::testing {
namespace {

struct Case {
  const char* pipeline;
  PixelClass cls;
  std::vector<const char*> variants;
  const char* form;  // what every one of their plans says of the node
};

constexpr const char* from_tile = "pixels from local memory";
const std::vector<Case> cases = {
    {"imfilter fspecial:gaussian,7,1.5 replicate",
     PixelClass::single,
     {"local+unrolled", "conflicts+rolled", "aligned"},
     from_tile},
    {"imfilter [1 2 4 2 1]/10 symmetric",
     PixelClass::single,
     {"local", "aligned", "conflicts"},
     from_tile},
    {"imfilter [1;2;4;2;1]/10", PixelClass::uint16, {"local"}, from_tile},
    {"imfilter [1 2 3;4 5 6;7 8 1]/37 symmetric", PixelClass::uint8, {"local+rolled"}, from_tile},
    {"imerode rectangle,3,7", PixelClass::single, {"local", "conflicts"}, from_tile},
    {"ordfilt2 5 square,3", PixelClass::uint16, {"local"}, from_tile},
    {"imgradmorph rectangle,3,7", PixelClass::uint8, {"naive+unrolled"}, "pixels"},
    {"imfilter fspecial:gaussian,7,1.5", PixelClass::single, {"naive"}, "pixels"},
    {"imfilter fspecial:gaussian,7,1.5 circular", PixelClass::single, {"local"}, "pixels"},
    {"jointhist :b", PixelClass::uint8, {"atomic"}, "counters in global memory"},
    {"jointhist :b", PixelClass::uint8, {"tagged"}, "tagged counters in local memory"},
    {"imhist 64", PixelClass::uint16, {"tagged"}, "tagged counters in local memory"},
    {"imhist", PixelClass::single, {"tagged"}, "tagged counters in local memory"},
    {"imadjust 0.2,0.8", PixelClass::uint8, {"pixels=1"}, "blocks of 1x1"},
    {"imlincomb 0.6 0.3 :b", PixelClass::uint8, {"pixels=2"}, "blocks of 2x1"},
    {"imlincomb 0.6 0.3 :b", PixelClass::uint8, {"pixels=4"}, "blocks of 4x1"},
    {"imlincomb 0.6 0.3 :b", PixelClass::uint8, {"pixels=16"}, "blocks of 16x1"},
    {"imlincomb 0.6 0.3 :b", PixelClass::uint16, {"pixels=2"}, "blocks of 2x1"},
    {"imlincomb 0.6 0.3 :b", PixelClass::single, {"pixels=8"}, "blocks of 4x2"},
};

// The last kernel of a pipeline: the one that its last operator is in.
SpecCase kernel_of(const Case& c) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(c.pipeline));
  const ImageType type{.cls = c.cls, .channels = 1, .white = class_max(c.cls)};
  std::map<std::string, ImageType> types;
  for (const std::string& name : pipeline.operands) types[name] = type;
  const Plan plan = pipeline::fuse(pipeline::lower(pipeline, type, types));
  return {.name = c.pipeline, .spec = plan.steps.back().kernel};
}

TEST(KernelVariants, AreTheFormsThatTheirNamesSay) {
  for (const Case& c : cases) {
    const PlaneKernel planes = plane_kernel(kernel_of(c).spec);
    const auto text = [&](const KernelVariant& variant) {
      const jit::Tuning tuning =
          jit::with_variant(jit::tuning_for("nvidia", jit::Dialect::cuda), variant);
      return jit::to_text(jit::choose(planes.spec, tuning, jit::Dialect::cuda), planes.spec);
    };
    const std::string usual = text({});
    for (const char* name : c.variants) {
      const std::string plan = text(bench::parse_variant(name));
      EXPECT_NE(plan.find(c.form), std::string::npos) << c.pipeline << ", " << name << "\n" << plan;
      EXPECT_NE(plan, usual) << c.pipeline << ", " << name;
    }
  }
}

// Loops are no part of the plan.
TEST(KernelVariants, LoopsAreRolledAndUnrolled) {
  const SpecCase spec = kernel_of(cases.front());
  const auto source = [&](const char* variant) {
    return program_of(spec.spec, jit::Dialect::cuda,
                      jit::with_variant(jit::tuning_for("nvidia", jit::Dialect::cuda),
                                        bench::parse_variant(variant)))
        .source;
  };
  EXPECT_EQ(source("local").find("#pragma unroll"), std::string::npos);
  EXPECT_NE(source("local+rolled").find("#pragma unroll 1\n"), std::string::npos);
  EXPECT_NE(source("local+unrolled").find("#pragma unroll\n"), std::string::npos);
  EXPECT_EQ(source("local+unrolled").find("#pragma unroll 1\n"), std::string::npos);
}

TEST(KernelVariants, HaveTheBitsOfTheCpu) {
  constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};
  constexpr Size sizes[] = {{1, 1}, {37, 1}, {3, 41}, {70, 45}};
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  for (const Case& c : cases) {
    for (const char* name : c.variants) {
      backends::choose_variant(bench::parse_variant(name));
      const std::unique_ptr<Device> device = device_of(opencl_backend, pool);
      backends::choose_variant({});
      if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
      const SpecCase spec = kernel_of(c);
      Comparison comparison(spec, *cpu, *device);
      for (const Size size : sizes) {
        const std::string found = comparison.difference(size, 7);
        EXPECT_EQ(found, "") << c.pipeline << ", " << name << " at " << to_string(size);
        if (!found.empty()) break;
      }
    }
  }
}

TEST(KernelVariants, CompileWithNvrtc) {
  if (!cuda::compiler().found) {
    ASSERT_EQ(std::getenv("IMPIPE_REQUIRE_NVRTC"), nullptr) << cuda::compiler().why_not;
    GTEST_SKIP() << "no NVRTC: " << cuda::compiler().why_not;
  }
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back("-arch=sm_90");
  for (const Case& c : cases) {
    for (const char* name : c.variants) {
      const jit::Tuning tuning = jit::with_variant(jit::tuning_for("nvidia", jit::Dialect::cuda),
                                                   bench::parse_variant(name));
      const std::string source = program_of(kernel_of(c).spec, jit::Dialect::cuda, tuning).source;
      try {
        EXPECT_FALSE(cuda::compile(source, options).empty());
      } catch (const std::exception& e) {
        ADD_FAILURE() << c.pipeline << ", " << name << ": " << e.what();
      }
    }
  }
}

TEST(KernelVariants, NamesOfVariants) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(bench::parse_variants("naive,local+unrolled,naive"),
            (Names{"naive", "local+unrolled"}));
  EXPECT_EQ(bench::parse_variants("pixels=1,2,16,tagged"),
            (Names{"pixels=1", "pixels=2", "pixels=16", "tagged"}));
  EXPECT_EQ(bench::parse_variants("none"), Names{});
  const auto error = [](const std::string& list) {
    try {
      bench::parse_variants(list);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string words =
      "is none of naive, local, aligned, conflicts, rolled, unrolled, atomic, tagged, pixels, "
      "width";
  EXPECT_EQ(error("lokal"), "--variant: 'lokal' " + words + "; did you mean 'local'?");
  EXPECT_EQ(error("local+"), "--variant: '' " + words);
  EXPECT_EQ(error("local,,naive"), "--variant: '' " + words);
  EXPECT_EQ(error("pixels"), "--variant: 'pixels': pixels= takes 1, 2, 4, 8 or 16");
  EXPECT_EQ(error("pixels=3"), "--variant: 'pixels=3': pixels= takes 1, 2, 4, 8 or 16");
  EXPECT_EQ(error("local=2"), "--variant: 'local=2': local takes no number");
}

}  // namespace
}  // namespace impipe::testing
