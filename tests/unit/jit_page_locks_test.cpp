// Which planes' memory is locked for a device's transfers, and for how long.
#include "backends/jit/runtime/page_locks.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace impipe::jit {
namespace {

// A driver that counts.
struct FakeDriver {
  std::set<std::byte*> locked;
  int asked = 0;
  bool refuses = false;
  std::shared_ptr<PageLocks> locks = PageLocks::make([this](std::byte* data, std::int64_t) {
    ++asked;
    if (refuses) return std::shared_ptr<void>();
    locked.insert(data);
    return std::shared_ptr<void>(
        data, [this](void* memory) { locked.erase(static_cast<std::byte*>(memory)); });
  });
  std::optional<PageLocks::Use> device{std::in_place, locks};

  ~FakeDriver() {
    device.reset();
    release_plane_memory();
  }
};

Plane plane_of(std::int64_t kib) { return {PixelClass::uint8, {1024, kib}}; }

class PageLocksTest : public testing::Test {
 protected:
  void SetUp() override { release_plane_memory(); }
};

TEST_F(PageLocksTest, ALargeBlockIsLockedAtOnceAndASmallOneWhenItComesAgain) {
  FakeDriver driver;
  const Plane large = plane_of(4096), medium = plane_of(1500), small = plane_of(128);
  EXPECT_TRUE(driver.locks->covers(large));
  EXPECT_FALSE(driver.locks->covers(medium));
  EXPECT_FALSE(driver.locks->covers(medium));
  EXPECT_TRUE(driver.locks->covers(medium));  // 4.4 MiB of it were copied
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(driver.locks->covers(small));
  EXPECT_EQ(driver.locked.size(), 2u);
  EXPECT_EQ(driver.asked, 2);
}

TEST_F(PageLocksTest, PlanesOfABlockShareItsLock) {
  FakeDriver driver;
  const Planes colour = new_planes(PixelClass::uint8, 3, {2000, 2000});
  for (const Plane& plane : colour) driver.locks->covers(plane);
  EXPECT_TRUE(driver.locks->covers(colour[0]));
  EXPECT_TRUE(driver.locks->covers(colour[2]));
  EXPECT_EQ(driver.asked, 1);
}

TEST_F(PageLocksTest, TheNextImageHasTheLock) {
  FakeDriver driver;
  std::byte* memory = nullptr;
  {
    Plane plane = plane_of(4096);
    memory = plane.row(0);
    EXPECT_TRUE(driver.locks->covers(plane));
  }
  Plane next = plane_of(4096);
  EXPECT_EQ(next.row(0), memory);
  EXPECT_TRUE(driver.locks->covers(next));
  EXPECT_EQ(driver.asked, 1);
}

TEST_F(PageLocksTest, LocksGoWithTheDeviceAndPlanesStay) {
  FakeDriver driver;
  std::optional<Plane> used = plane_of(4096);
  {
    const Plane kept = plane_of(8192);
    EXPECT_TRUE(driver.locks->covers(kept));
  }
  EXPECT_TRUE(driver.locks->covers(*used));
  driver.device.reset();
  EXPECT_EQ(driver.locked, std::set{used->row(0)});
  *used->row(4095) = std::byte{7};
  used.reset();
  EXPECT_TRUE(driver.locked.empty());
}

TEST_F(PageLocksTest, MemoryGoesAfterItsLock) {
  FakeDriver driver;
  { EXPECT_TRUE(driver.locks->covers(plane_of(4096))); }
  EXPECT_EQ(driver.locked.size(), 1u);
  release_plane_memory();
  EXPECT_TRUE(driver.locked.empty());
}

TEST_F(PageLocksTest, AnotherDevicesLockIsOfNoUse) {
  FakeDriver one, other;
  const Plane plane = plane_of(4096);
  EXPECT_TRUE(one.locks->covers(plane));
  EXPECT_FALSE(other.locks->covers(plane));
  EXPECT_EQ(other.asked, 0);
}

TEST_F(PageLocksTest, ASystemThatRefusesIsAskedOnce) {
  FakeDriver driver;
  driver.refuses = true;
  const Plane plane = plane_of(4096), other = plane_of(8192);
  EXPECT_FALSE(driver.locks->covers(plane));
  EXPECT_FALSE(driver.locks->covers(plane));
  EXPECT_FALSE(driver.locks->covers(other));
  EXPECT_EQ(driver.asked, 1);
}

}  // namespace
}  // namespace impipe::jit
