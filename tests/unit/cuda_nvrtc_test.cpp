// NVRTC as the CUDA backend calls it; needs no GPU.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "core/error.hpp"

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

}  // namespace
}  // namespace impipe::cuda
