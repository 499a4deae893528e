// Files of a stack that are ready before those in front of them.
#include <gtest/gtest.h>

#include "core/thread_pool.hpp"
#include "engine/batch/stack_sink.hpp"

namespace impipe::engine {
namespace {

constexpr Size size{64, 32};
constexpr std::int64_t files = 20;
constexpr std::int64_t image_bytes = std::int64_t{64} * 32 * 4;

Page page_of(std::int64_t file) {
  HostImage image({.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 1}, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    float* row = image.planes.front().row_as<float>(y);
    for (std::int64_t x = 0; x < size.width; ++x) {
      row[x] = 1.0f / static_cast<float>(1 + file * (x + y + 1));
    }
  }
  return {std::move(image), nullptr};
}

// The sum of all files, the first of which comes last.
HostImage sum_of(std::int64_t memory, std::int64_t& bytes_on_disk) {
  ThreadPool pool(2);
  StackSink sink(
      {.across = ImageReduction::Across::files, .operation = ImageReduction::Operation::sum},
      {.files = files, .memory = memory, .pool = &pool});
  for (std::int64_t file = 1; file < files; ++file) sink.add(file, page_of(file));
  bytes_on_disk = sink.on_disk().first;
  sink.add(0, page_of(0));
  return std::move(sink.result([] {}).front().image);
}

TEST(StackSink, FilesThatWaitAreOnDiskWhereTheyAreTooMuchForTheMemory) {
  std::int64_t none = -1, some = 0;
  const HostImage in_memory = sum_of(files * image_bytes, none);
  const HostImage on_disk = sum_of(3 * image_bytes, some);
  EXPECT_EQ(none, 0);
  EXPECT_GT(some, 0);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      double sum = 0;
      for (std::int64_t file = 0; file < files; ++file) {
        sum += 1.0f / static_cast<float>(1 + file * (x + y + 1));
      }
      ASSERT_EQ(in_memory.planes.front().row_as<float>(y)[x], static_cast<float>(sum));
      ASSERT_EQ(on_disk.planes.front().row_as<float>(y)[x], static_cast<float>(sum));
    }
  }
}

}  // namespace
}  // namespace impipe::engine
