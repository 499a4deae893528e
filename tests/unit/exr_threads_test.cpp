// Lines of an EXR's ZIP and ZIPS are spread over the threads of a run.
#include <gtest/gtest.h>

#include <atomic>

#include "core/shared_pool.hpp"
#include "io/codec.hpp"

namespace impipe {
namespace {

// A pool of no threads that counts its loops.
struct CountedPool {
  CountedPool() {
    pool.set_wake([this] { ++loops; });
  }
  ThreadPool pool{0};
  std::atomic<int> loops = 0;
  SharedPool shared{pool};
};

TEST(ExrThreads, ChunksArePackedAndUnpackedInLoopsOfThePool) {
  HostImage image({.cls = PixelClass::single, .channels = 1, .white = 1}, {3, 1100});
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    float* row = image.planes[0].row_as<float>(y);
    for (int x = 0; x < 3; ++x) row[x] = static_cast<float>(y * 3 + x) / 4096;
  }
  io::Bytes file;
  {
    const CountedPool counted;
    file = io::encode(image, {}, io::Format::exr, PixelClass::single).bytes;
    EXPECT_EQ(counted.loops, 3);  // 1100 lines, 512 at a time
  }
  const CountedPool counted;
  const HostImage read = io::decode(file, {}).image;
  EXPECT_EQ(counted.loops, 1);
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    for (int x = 0; x < 3; ++x) {
      ASSERT_EQ(read.planes[0].row_as<float>(y)[x], static_cast<float>(y * 3 + x) / 4096);
    }
  }
}

TEST(ExrThreads, WithoutAPoolALoopIsTheCallersOwn) {
  std::vector<std::int64_t> order;
  for_each_shared(3, [&](std::int64_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace impipe
