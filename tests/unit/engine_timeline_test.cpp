// Unions of time, and kernels that share a device.
#include "engine/batch/timeline.hpp"

#include <gtest/gtest.h>

namespace impipe::engine {
namespace {

using Kind = Slice::Kind;

Slice slice(Kind kind, double begin, double end, int device = -1, int step = -1) {
  return {.kind = kind,
          .device = static_cast<std::int16_t>(device),
          .step = step,
          .begin = begin,
          .end = end};
}

TEST(Timeline, AUnionCountsWhatGoesOnAtOnceOnce) {
  Timeline timeline(100, 0);
  timeline.add(slice(Kind::decode, 100, 102));
  timeline.add(slice(Kind::decode, 101, 104));
  timeline.add(slice(Kind::encode, 103, 106));
  const TimeSums sums = timeline.sums();
  EXPECT_DOUBLE_EQ(sums.wall_of(Kind::decode), 4);
  EXPECT_DOUBLE_EQ(sums.sum_of(Kind::decode), 5);
  EXPECT_DOUBLE_EQ(sums.covered, 6);
  EXPECT_DOUBLE_EQ(sums.all, 7);
}

TEST(Timeline, ComputingIsToldByWhatGoesOnInIt) {
  Timeline timeline(0, 0);
  timeline.add(slice(Kind::compute, 0, 10));
  timeline.add(slice(Kind::kernel, 2, 5, 0, 0));
  const TimeSums sums = timeline.sums();
  EXPECT_DOUBLE_EQ(sums.covered, 3);
  EXPECT_DOUBLE_EQ(sums.wall_of(Kind::compute), 10);
}

TEST(Timeline, KernelsThatRunAtOnceShareTheirDevice) {
  Timeline timeline(0, 0);
  timeline.add(slice(Kind::kernel, 0, 4, 0, 0));
  timeline.add(slice(Kind::kernel, 2, 6, 0, 1));
  timeline.add(slice(Kind::kernel, 2, 6, 1, 1));  // of another device: it takes nothing away
  const TimeSums sums = timeline.sums();
  EXPECT_DOUBLE_EQ(sums.devices.at(0).busy, 6);
  EXPECT_DOUBLE_EQ(sums.devices.at(0).sum, 8);
  EXPECT_DOUBLE_EQ(sums.devices.at(1).busy, 4);
  EXPECT_DOUBLE_EQ(sums.steps.at(0), 3);
  EXPECT_DOUBLE_EQ(sums.steps.at(1), 3 + 4);
  EXPECT_DOUBLE_EQ(sums.wall_of(Kind::kernel), 6);
}

TEST(Timeline, WhileADriverCompilesItsKernelsWait) {
  Timeline timeline(0, 0);
  timeline.add(slice(Kind::kernel, 0, 10, 0, 0));
  timeline.add(slice(Kind::compile, 1, 8, 0, 1));
  timeline.add(slice(Kind::compile, 0, 10));  // by a thread of ours
  const TimeSums sums = timeline.sums();
  EXPECT_DOUBLE_EQ(sums.devices.at(0).busy, 3);
  EXPECT_DOUBLE_EQ(sums.steps.at(0), 3);
  EXPECT_DOUBLE_EQ(sums.wall_of(Kind::kernel), 3);
}

TEST(Timeline, SumsDoNotDependOnHowManySlicesThereWere) {
  // More than are kept: two lanes, each slice beside half of another.
  constexpr int count = 300'000;
  Timeline timeline(0, 1000);
  for (int i = 0; i < count; ++i) {
    timeline.add(slice(Kind::kernel, i, i + 1, 0, 0));
    timeline.add(slice(Kind::decode, i + 0.5, i + 0.75));
  }
  const TimeSums sums = timeline.sums();
  EXPECT_NEAR(sums.devices.at(0).busy, count, 1e-6);
  EXPECT_NEAR(sums.steps.at(0), count, 1e-6);
  EXPECT_NEAR(sums.wall_of(Kind::decode), count / 4.0, 1e-6);
  EXPECT_NEAR(sums.covered, count, 1e-6);
  EXPECT_EQ(timeline.first().size(), 1000u);
  EXPECT_TRUE(timeline.is_cut());
}

}  // namespace
}  // namespace impipe::engine
