// What control groups leave of a machine.
#include "core/process_limits.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace impipe {
namespace {

namespace fs = std::filesystem;

class Groups : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("impipe-groups-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text << "\n";
  }
  ProcessLimits limits() const {
    return limited_by_groups({.threads = 16, .memory = 1000}, folder_ / "proc", folder_ / "groups");
  }
  void expect(int threads, std::int64_t memory) const {
    EXPECT_EQ(limits().threads, threads);
    EXPECT_EQ(limits().memory, memory);
  }
  fs::path folder_;
};

TEST_F(Groups, WithoutGroupsTheMachineCounts) { expect(16, 1000); }

TEST_F(Groups, VersionTwoCountsWithAllAbove) {
  put("proc/self/cgroup", "0::/farm/job/step");
  put("groups/farm/job/step/cpu.max", "max 100000");
  put("groups/farm/job/step/memory.max", "max");
  expect(16, 1000);
  put("groups/farm/job/cpu.max", "250000 100000");
  put("groups/farm/memory.max", "700");
  expect(3, 700);
  put("groups/farm/job/step/cpu.max", "50000 100000");
  put("groups/farm/job/step/memory.max", "800");
  expect(1, 700);
}

TEST_F(Groups, AContainerSeesItsOwnGroupAtTheTop) {
  put("proc/self/cgroup", "0::/");
  put("groups/cpu.max", "200000 100000");
  put("groups/memory.max", "600");
  expect(2, 600);
}

TEST_F(Groups, VersionOneHasAFolderForEachKind) {
  put("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n3:cpuset:/other\n1:name=systemd:/x");
  put("groups/cpu/job/cpu.cfs_quota_us", "-1");
  put("groups/cpu/job/cpu.cfs_period_us", "100000");
  put("groups/memory/job/memory.limit_in_bytes", "9223372036854771712");
  put("groups/cpuset/other/cpu.max", "1 1");
  expect(16, 1000);
  put("groups/cpu/job/cpu.cfs_quota_us", "400000");
  put("groups/memory/memory.limit_in_bytes", "500");
  expect(4, 500);
}

TEST_F(Groups, NonsenseIsNoLimit) {
  put("proc/self/cgroup", "nothing\n0::/job\n7:");
  put("groups/job/cpu.max", "a b");
  put("groups/job/memory.max", "-5");
  expect(16, 1000);
}

TEST(ProcessLimits, AreThoseOfThisProcess) {
  const ProcessLimits limits = process_limits();
  EXPECT_GE(limits.threads, 1);
  EXPECT_GT(limits.memory, 1 << 20);
}

}  // namespace
}  // namespace impipe
