// The figures and the verdict of a profile, of made-up runs.
#include <gtest/gtest.h>

#include "cli/profile_report.hpp"
#include "cli/profile_values.hpp"

namespace impipe::cli {
namespace {

using engine::Profile;
using Kind = engine::Slice::Kind;

TEST(ProfileFigures, AShareIsNeverMoreThanAll) {
  engine::StepProfile step{
      .name = "", .kernel = "", .apart = "", .runs = 4, .launches = 8, .seconds = 2, .bytes = 30e9};
  const StepFigures slow = figures_of(step, 20e9);
  EXPECT_DOUBLE_EQ(slow.us_an_image, 5e5);
  EXPECT_DOUBLE_EQ(slow.launches, 2);
  EXPECT_DOUBLE_EQ(slow.speed, 15e9);
  EXPECT_DOUBLE_EQ(slow.share, 0.75);
  EXPECT_FALSE(slow.in_cache);
  const StepFigures fast = figures_of(step, 10e9);
  EXPECT_DOUBLE_EQ(fast.share, 1);
  EXPECT_TRUE(fast.in_cache);
  step.seconds = 0;
  EXPECT_EQ(figures_of(step, 0).share, 0);
}

// Ten seconds of sixteen threads and a card.
Profile run_with(double decode, double host, double kernels, double uploads) {
  Profile p;
  p.threads = 16;
  p.files = 100;
  p.wall = p.times.wall = 10;
  p.times.decode = decode;
  p.sums.sum[static_cast<size_t>(Kind::host)] = host;
  engine::DeviceProfile device;
  device.info.id = "cuda:0";
  device.times = {.busy = kernels, .sum = 2 * kernels, .upload = uploads, .download = 0};
  p.devices.push_back(device);
  return p;
}

TEST(ProfileVerdict, NamesWhatIsBusiest) {
  EXPECT_EQ(profile_verdict(run_with(137.6, 0, 0.6, 0.4)),
            "bound by decoding: 16 threads busy 86 %, cuda:0 busy 6 %");
  EXPECT_EQ(profile_verdict(run_with(16, 120, 0.6, 0.4)),
            "bound by launches and memory: 16 threads busy 85 %, cuda:0 busy 6 %");
  EXPECT_EQ(profile_verdict(run_with(16, 0, 9.4, 3)),
            "bound by kernels: 16 threads busy 10 %, cuda:0 busy 94 %");
  EXPECT_EQ(profile_verdict(run_with(16, 0, 4, 8)),
            "bound by transfers: 16 threads busy 10 %, cuda:0 busy 40 %");
  EXPECT_EQ(profile_verdict(run_with(16, 0, 4, 3)),
            "bound by waiting: nothing is busy half of the time: 16 threads busy 10 %, cuda:0 busy "
            "40 %");
}

TEST(ProfileVerdict, BeforeTheFirstFile) {
  Profile p = run_with(16, 0, 4, 3);
  p.start_up = 6;
  EXPECT_EQ(profile_verdict(p), "bound by start-up: 16 threads busy 10 %, cuda:0 busy 40 %");
  p.sums.wall[static_cast<size_t>(Kind::compile)] = 7;
  EXPECT_EQ(profile_verdict(p),
            "bound by compiling kernels: 16 threads busy 10 %, cuda:0 busy 40 %");
  p.files = 0;
  EXPECT_EQ(profile_verdict(p), "nothing was done: 16 threads busy 10 %, cuda:0 busy 40 %");
}

TEST(ProfileVerdict, OfTheProcessorAlone) {
  Profile p = run_with(8, 0, 0.5, 0);
  p.devices.front().info.id = "cpu";
  p.times.compute = 120;
  EXPECT_EQ(profile_verdict(p), "bound by computing on the CPU: 16 threads busy 80 %");
}

TEST(ProfileBars, ATransferInACacheIsNoShareOfTheLink) {
  Profile p = run_with(1, 0, 1, 1);
  p.uploaded = 30e9;
  p.sums.wall[static_cast<size_t>(Kind::upload)] = 1;
  p.devices.front().speed.link.up = 50e9;
  EXPECT_EQ(wall_bars(p).back().limit, "30 of 50 GB/s, large transfers");
  p.devices.front().speed.link.up = 20e9;
  EXPECT_EQ(wall_bars(p).back().limit, "30 GB/s, in a cache: large transfers 20");
}

TEST(ProfileText, CountsWhatTheHostCopiedForTheLink) {
  Profile p = run_with(1, 0, 1, 1);
  EXPECT_EQ(profile_text(p).find("copied on the host"), std::string::npos);
  p.uploaded = 1074e6;
  p.copied_up = 16.8e6;
  p.downloaded = 1074e6;
  EXPECT_NE(profile_text(p).find(
                "copied on the host for the link: 16.8 of 1074 MB up, 0.0 of 1074 MB down\n"),
            std::string::npos);
}

}  // namespace
}  // namespace impipe::cli
