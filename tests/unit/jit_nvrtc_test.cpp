// Every kernel of the table compiles with NVRTC for sm_90; IMPIPE_TEST_ARCHS names others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "support/kernel_specs.hpp"

namespace impipe::testing {
namespace {

TEST(Nvrtc, CompilesTheTable) {
  if (!cuda::compiler().found) {
    ASSERT_EQ(std::getenv("IMPIPE_REQUIRE_NVRTC"), nullptr) << cuda::compiler().why_not;
    GTEST_SKIP() << "no NVRTC: " << cuda::compiler().why_not;
  }
  const char* asked = std::getenv("IMPIPE_TEST_ARCHS");
  std::istringstream archs(asked != nullptr ? asked : "sm_90");
  for (std::string arch; archs >> arch;) {
    for (const SpecCase& c : chosen_specs()) {
      std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
      options.push_back("-arch=" + arch);
      const jit::Program program =
          jit::generate(c.spec, jit::Dialect::cuda, jit::tuning_for("NVIDIA", jit::Dialect::cuda));
      try {
        EXPECT_FALSE(cuda::compile(program.source, options).empty()) << c.name;
      } catch (const std::exception& e) {
        ADD_FAILURE() << c.name << " for " << arch << ": " << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
