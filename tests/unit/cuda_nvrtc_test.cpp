// NVRTC as the CUDA backend calls it; needs no GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "core/error.hpp"
#include "support/fresh_process.hpp"

namespace impipe::cuda {
namespace {

std::vector<std::string> options_for(int capability) {
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back(arch_option(capability));
  return options;
}

TEST(CudaNvrtc, AnErrorHasTheCompilersLog) {
  if (!compiler().found) GTEST_SKIP() << compiler().why_not;
  try {
    compile("__global__ void f() { int x = ; }", options_for(90));
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::backend);
    const std::string_view text = error.what();
    EXPECT_TRUE(text.starts_with("cuda: a kernel does not compile\nimpipe.cu(1): error: ")) << text;
  }
}

// A GPU that this NVRTC does not know yet gets PTX of the newest it does know.
TEST(CudaNvrtc, AnUnknownDeviceGetsPtx) {
  if (!compiler().found) GTEST_SKIP() << compiler().why_not;
  const std::vector<std::string> options = options_for(999);
  EXPECT_TRUE(options.back().starts_with("-arch=compute_")) << options.back();
  const auto ptx = compile("extern \"C\" __global__ void f() {}", options);
  const std::string text(reinterpret_cast<const char*>(ptx.data()), ptx.size());
  EXPECT_NE(text.find(".visible .entry f()"), std::string::npos);
}

TEST(NvrtcInFreshProcess, DISABLED_IsNotTakenFromARelativePath) {
  EXPECT_FALSE(compiler().found);
  EXPECT_EQ(compiler().why_not,
            "IMPIPE_NVRTC: './libnvrtc.so' is not an absolute path: code is not loaded from "
            "wherever impipe is run");
}

TEST(CudaNvrtc, IsNotTakenFromARelativePath) {
  EXPECT_EQ(impipe::testing::run_in_fresh_process("NvrtcInFreshProcess.*",
                                                  {{"IMPIPE_NVRTC", "./libnvrtc.so"}}),
            0);
}

// Roots that are not absolute would make it one of the current folder.
TEST(CudaNvrtc, AllPlacesAreAbsoluteOrTheLinkersToFind) {
  setenv("CUDA_HOME", "here", 1);
  setenv("VIRTUAL_ENV", "env", 1);
  const auto places = compiler_places();
  unsetenv("CUDA_HOME");
  unsetenv("VIRTUAL_ENV");
  for (const std::string& place : places) {
    EXPECT_TRUE(place.starts_with('/') || place.find('/') == std::string::npos) << place;
  }
}

}  // namespace
}  // namespace impipe::cuda
