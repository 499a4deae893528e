// The pool of device memory: reuse, lanes, its cap and what happens when memory is out.
#include "backends/jit/runtime/memory_pool.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "core/backend.hpp"
#include "support/fresh_process.hpp"

namespace impipe::jit {
namespace {

// A device with so many bytes.
struct FakeDevice {
  std::int64_t memory = 1 << 20;
  std::uint64_t next = 1;
  std::map<std::uint64_t, std::int64_t> taken;
  int allocations = 0;

  std::shared_ptr<MemoryPool> pool(std::int64_t cap = 0) {
    return MemoryPool::make({.device = "fake:0",
                             .allocate = [this](std::int64_t bytes) -> std::uint64_t {
                               ++allocations;
                               if (bytes > memory) return 0;
                               memory -= bytes;
                               taken[next] = bytes;
                               return next++;
                             },
                             .free =
                                 [this](std::uint64_t handle) {
                                   memory += taken.at(handle);
                                   taken.erase(handle);
                                 }},
                            cap);
  }
};

TEST(MemoryPool, ClassesWasteAtMostAFifth) {
  const std::pair<std::int64_t, std::int64_t> rows[] = {
      {0, 512},           {1, 512},
      {512, 512},         {513, 640},
      {640, 640},         {641, 768},
      {1024, 1024},       {1025, 1280},
      {1 << 20, 1 << 20}, {(1 << 20) + 1, (1 << 20) + (1 << 18)}};
  for (const auto& [bytes, expected] : rows) EXPECT_EQ(size_class(bytes), expected) << bytes;
  for (std::int64_t bytes = 513; bytes < 100000; bytes += 37) {
    EXPECT_GE(size_class(bytes), bytes);
    EXPECT_LT(static_cast<double>(size_class(bytes) - bytes), 0.2 * size_class(bytes)) << bytes;
  }
}

TEST(MemoryPool, ALaneTakesWhatItGaveBack) {
  FakeDevice device;
  const auto pool = device.pool();
  const int lane = pool->open_lane();
  std::uint64_t handle = 0;
  for (int i = 0; i < 3; ++i) {
    const Block block = pool->allocate(1000, lane);
    EXPECT_TRUE(handle == 0 || handle == block.handle());
    handle = block.handle();
  }
  EXPECT_EQ(device.allocations, 1);
}

TEST(MemoryPool, AnotherLaneHasToWaitForTheEndOfTheFirst) {
  FakeDevice device;
  const auto pool = device.pool();
  const int a = pool->open_lane(), b = pool->open_lane();
  const std::uint64_t handle = pool->allocate(1000, a).handle();
  EXPECT_NE(pool->allocate(1000, b).handle(), handle);
  pool->close_lane(a);
  const Block first = pool->allocate(1000, b), second = pool->allocate(1000, b);
  EXPECT_EQ((std::set{first.handle(), second.handle()}), (std::set<std::uint64_t>{1, 2}));
  EXPECT_EQ(device.allocations, 2);
}

TEST(MemoryPool, GivesBackWhatIsKeptBeforeMemoryIsOut) {
  FakeDevice device;  // 1 MiB
  const auto pool = device.pool();
  const int lane = pool->open_lane();
  { const Block large = pool->allocate(700 << 10, lane); }
  const Block other = pool->allocate(600 << 10, lane);
  EXPECT_EQ(pool->held(), size_class(600 << 10));
  try {
    pool->allocate(3 << 20, lane);
    FAIL() << "there is no such memory";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_STREQ(error.what(), "fake:0: no memory for 3 MiB; 0 MiB are in use");
    EXPECT_EQ(error.code(), ExitCode::backend);
  }
}

TEST(MemoryPool, HoldsNoMoreThanItsCap) {
  FakeDevice device;
  const auto pool = device.pool(100 << 10);
  const int lane = pool->open_lane();
  std::optional<Block> used = pool->allocate(80 << 10, lane);
  EXPECT_THROW(pool->allocate(40 << 10, lane), OutOfDeviceMemory);
  used.reset();
  const Block fits = pool->allocate(40 << 10, lane);
  EXPECT_NE(fits.handle(), 0u);
  EXPECT_EQ(pool->held(), 40 << 10);
}

TEST(MemoryPool, EverythingGoesBackWithTheLastBlock) {
  FakeDevice device;
  {
    std::optional<Block> block;
    {
      const auto pool = device.pool();
      block = pool->allocate(1000, pool->open_lane());
    }
    EXPECT_EQ(device.taken.size(), 1u);
  }
  EXPECT_TRUE(device.taken.empty());
}

// In a process of its own: the count is the process's.
TEST(MemoryPool, AFailureCanBeInjected) {
  EXPECT_EQ(impipe::testing::run_in_fresh_process("MemoryPoolInjected.*",
                                                  {{"IMPIPE_TEST_FAIL_ALLOC", "2"}}),
            0);
}

TEST(MemoryPoolInjected, DISABLED_TheSecondRequestFailsAndFreesWhatIsKept) {
  FakeDevice device;
  const auto pool = device.pool();
  const int lane = pool->open_lane();
  { const Block kept = pool->allocate(1000, lane); }
  EXPECT_THROW(pool->allocate(1000, lane), OutOfDeviceMemory);
  EXPECT_EQ(pool->held(), 0);
  EXPECT_NE(pool->allocate(1000, lane).handle(), 0u);
}

}  // namespace
}  // namespace impipe::jit
