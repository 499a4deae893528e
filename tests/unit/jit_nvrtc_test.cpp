// Every kernel of the table compiles with NVRTC for sm_90; IMPIPE_TEST_ARCHS names others. So do
// the kernels of random pipelines, as many as IMPIPE_TEST_SEEDS says from IMPIPE_TEST_FIRST_SEED.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/codec/codec.hpp"
#include "backends/jit/generator.hpp"
#include "core/error.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/kernel_specs.hpp"
#include "support/large_pipelines.hpp"
#include "support/program_of.hpp"
#include "support/random_pipeline.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == 0 ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<std::string> archs() {
  const char* asked = std::getenv("IMPIPE_TEST_ARCHS");
  std::istringstream words(asked != nullptr ? asked : "sm_90");
  return {std::istream_iterator<std::string>(words), {}};
}

// The kernels of a pipeline, named by its text; none when it is refused.
std::vector<SpecCase> kernels_of(const test::RandomRun& what, bool fused) {
  Plan plan;
  try {
    const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(what.text));
    std::map<std::string, ImageType> types;
    for (const std::string& name : pipeline.operands) types[name] = what.operands.at(name).type;
    plan = pipeline::lower(pipeline, what.image.type, types);
  } catch (const Error&) {
    return {};
  }
  std::vector<SpecCase> out;
  for (const Step& step : (fused ? pipeline::fuse(plan) : pipeline::without_unread(plan)).steps) {
    out.push_back(
        {.name = "`" + what.text + "` on " + to_string(what.image.type), .spec = step.kernel});
  }
  return out;
}

void expect_compiled(const std::vector<SpecCase>& specs, const std::string& arch) {
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back("-arch=" + arch);
  for (const SpecCase& c : specs) {
    const jit::Program program =
        program_of(c.spec, jit::Dialect::cuda, jit::tuning_for("NVIDIA", jit::Dialect::cuda));
    try {
      EXPECT_FALSE(cuda::compile(program.source, options).empty()) << c.name;
    } catch (const std::exception& e) {
      ADD_FAILURE() << c.name << " for " << arch << ": " << e.what();
    }
  }
}

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::compiler().found) return;
    ASSERT_EQ(std::getenv("IMPIPE_REQUIRE_NVRTC"), nullptr) << cuda::compiler().why_not;
    GTEST_SKIP() << "no NVRTC: " << cuda::compiler().why_not;
  }
};

TEST_F(Nvrtc, CompilesTheTable) {
  for (const std::string& arch : archs()) expect_compiled(chosen_specs(), arch);
}

TEST_F(Nvrtc, CompilesPackers) {
  using Filter = PackedForm::Filter;
  PackedForm form;
  form.size = form.chunk = {10, 10};
  form.channel_of = {0};
  for (const std::string& arch : archs()) {
    std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
    options.push_back("-arch=" + arch);
    for (const auto packing : {PackedForm::Packing::none, PackedForm::Packing::zlib}) {
      for (const Filter filter : {Filter::none, Filter::png}) {
        form.packing = packing;
        form.filter = filter;
        const jit::Program program = jit::packer(jit::Dialect::cuda, form, DeflateEffort::copies);
        EXPECT_FALSE(cuda::compile(program.source, options).empty());
      }
    }
    PackedForm floats = form;
    floats.cls = PixelClass::single;
    floats.sample = PackedForm::Sample::half;
    floats.bits = 16;
    floats.filter = Filter::exr;
    floats.order = PackedForm::Order::by_row;
    floats.channels = 4;
    floats.channel_of = {3, 2, 1, 0};
    floats.alpha = PackedForm::Alpha::associated;
    PackedForm carried = floats;
    carried.packing = PackedForm::Packing::zlib;
    carried.carried = 4;
    carried.carried_before = {4, 4, 2, 0};
    for (const PackedForm& one : {floats, carried}) {
      const jit::Program program = jit::packer(jit::Dialect::cuda, one, DeflateEffort::copies);
      EXPECT_FALSE(cuda::compile(program.source, options).empty());
    }
  }
}

TEST_F(Nvrtc, CompilesRandomPipelines) {
  const std::uint64_t first = number_of("IMPIPE_TEST_FIRST_SEED", 1);
  const std::uint64_t count = number_of("IMPIPE_TEST_SEEDS", 10);
  std::set<std::string> known;  // kernels that were compiled
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::vector<SpecCase> specs = kernels_of(test::random_run(seed), seed % 4 != 0);
    std::erase_if(specs, [&](const SpecCase& c) { return !known.insert(c.spec.key()).second; });
    for (const std::string& arch : archs()) expect_compiled(specs, arch);
  }
  EXPECT_GE(known.size(), count / 3);
}

TEST_F(Nvrtc, CompilesLargeParameters) {
  const std::vector<test::RandomRun> runs = some_of(test::large_runs(), 41);
  std::set<std::string> known;
  for (const test::RandomRun& run : runs) {
    std::vector<SpecCase> specs = kernels_of(run, true);
    EXPECT_FALSE(specs.empty()) << run.text.substr(0, 100);
    std::erase_if(specs, [&](const SpecCase& c) { return !known.insert(c.spec.key()).second; });
    for (const std::string& arch : archs()) expect_compiled(specs, arch);
  }
}

// Alpha's weights are filtered beside the colours: the tiles of both are all that local memory
// holds.
TEST_F(Nvrtc, CompilesFiltersOfPicturesWithAlpha) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const char* text : {"conv2 fspecial:average,3,5 | immultiply :b", "imgaussfilt 2",
                             "imgaussfilt 1 | imadjust 0.1 0.9"}) {
      test::RandomRun run{.text = text, .image = {}, .operands = {}};
      run.image.type = {
          .cls = cls, .channels = 3, .alpha = true, .white = static_cast<float>(class_max(cls))};
      run.operands["b"].type = {
          .cls = cls, .channels = 3, .white = static_cast<float>(class_max(cls))};
      expect_compiled(kernels_of(run, true), "sm_90");
    }
  }
}

TEST_F(Nvrtc, CompilesChains) { expect_compiled(some_of(chained_specs(), 5), "sm_90"); }

TEST_F(Nvrtc, CompilesRanksOfRanksAndManyWeights) {
  std::vector<SpecCase> specs = tiled_specs();
  std::erase_if(specs, [](const SpecCase& c) {
    return !c.name.starts_with("rank of ranks") && !c.name.starts_with("many weights disk");
  });
  EXPECT_GE(specs.size(), 10u);
  expect_compiled(specs, "sm_90");
}

TEST_F(Nvrtc, CompilesPointsBeforeNeighbourhoods) {
  expect_compiled(some_of(pointed_specs(), 2), "sm_90");
}

TEST_F(Nvrtc, CompilesBytesInLanes) { expect_compiled(some_of(byte_specs(), 3), "sm_90"); }

TEST_F(Nvrtc, CompilesSpectra) { expect_compiled(some_of(spectral_specs(), 9), "sm_90"); }

}  // namespace
}  // namespace impipe::testing
