// Every kernel of the table compiles with NVRTC for sm_90; IMPIPE_TEST_ARCHS names others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "support/kernel_specs.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

void expect_compiled(const std::vector<SpecCase>& specs, const std::string& arch) {
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back("-arch=" + arch);
  for (const SpecCase& c : specs) {
    const jit::Program program =
        jit::generate(c.spec, jit::Dialect::cuda, jit::tuning_for("NVIDIA", jit::Dialect::cuda));
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
  const char* asked = std::getenv("IMPIPE_TEST_ARCHS");
  std::istringstream archs(asked != nullptr ? asked : "sm_90");
  for (std::string arch; archs >> arch;) expect_compiled(chosen_specs(), arch);
}

TEST_F(Nvrtc, CompilesChains) { expect_compiled(chained_specs(), "sm_90"); }

TEST_F(Nvrtc, CompilesBytesInLanes) { expect_compiled(byte_specs(), "sm_90"); }

}  // namespace
}  // namespace impipe::testing
