// A codec's kernel that isn't in the disk cache, where there is a compiler and where there is none.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "core/device_cache.hpp"
#include "core/error.hpp"
#include "engine/device/session.hpp"

namespace impipe::testing {
namespace {

struct AnyKernel final : Kernel {};

// What is there once nothing is compiled any more.
std::shared_ptr<const Kernel> at_last(engine::CodecKernel& codec) {
  std::shared_ptr<const Kernel> kernel = codec.kernel_in_time();
  while (codec.is_compiling()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return kernel ? kernel : codec.kernel_in_time();
}

TEST(CodecKernel, IsTheProcessorsWorkWithoutACompiler) {
  engine::CodecKernel codec([]() -> std::shared_ptr<const Kernel> {
    if (OnlyCached::is_wanted()) throw NotCached();
    throw Error("no compiler", ExitCode::backend);
  });
  EXPECT_EQ(at_last(codec), nullptr);
  EXPECT_THROW(codec.kernel(), Error);  // --codec device
}

TEST(CodecKernel, IsThereOnceItIsCompiled) {
  engine::CodecKernel codec([]() -> std::shared_ptr<const Kernel> {
    if (OnlyCached::is_wanted()) throw NotCached();
    return std::make_shared<AnyKernel>();
  });
  EXPECT_NE(at_last(codec), nullptr);
}

}  // namespace
}  // namespace impipe::testing
