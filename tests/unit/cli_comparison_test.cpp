// What a comparison of devices says, of made-up times.
#include "cli/comparison.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace impipe::cli {
namespace {

ComparedRow row(const char* device, double kernel_us, double wall_ms, double transfer_ms) {
  ComparedRow made;
  made.device = device;
  made.result.device = 1e-6 * kernel_us;
  made.result.median_ms = wall_ms;
  made.result.transfer_ms = transfer_ms;
  return made;
}

TEST(Comparison, SpeedUpsAreOfTheFirstRowThatThereIs) {
  std::vector<ComparedRow> rows = {row("cuda:1", 0, 0, 0), row("cpu:1", 800, 1, 0),
                                   row("cuda:0", 4, 0.5, 0.2)};
  rows[0].error = "it is not here";
  relate(rows);
  EXPECT_DOUBLE_EQ(rows[2].kernel_speedup, 200);
  EXPECT_DOUBLE_EQ(rows[2].overall_speedup, 2);
  EXPECT_TRUE(rows[2].same_bits);
  EXPECT_EQ(lost_text(rows), "");
}

TEST(Comparison, ItSaysWhyADeviceLoses) {
  std::vector<ComparedRow> rows = {row("cpu", 100, 0.1, 0), row("cuda:0", 4, 0.169, 0.165)};
  relate(rows);
  EXPECT_EQ(lost_text(rows), "cuda:0 0.6x overall: 165 us of transfers for 4 us of work\n");
  rows[1].result.median_ms = 0.2;
  relate(rows);
  EXPECT_EQ(lost_text(rows),
            "cuda:0 0.5x overall: 165 us of transfers and 31 us of the host for 4 us of work\n");
}

TEST(Comparison, OtherBitsAreSeen) {
  std::vector<ComparedRow> rows = {row("cpu", 1, 1, 0), row("cuda:0", 1, 1, 0)};
  for (ComparedRow& each : rows) each.result.outcome.measurements = {{.numbers = {0.0, 1.0}}};
  rows[1].result.outcome.measurements[0].numbers[0] = -0.0;
  relate(rows);
  EXPECT_FALSE(rows[1].same_bits);
}

TEST(Comparison, DevicesOfAList) {
  const auto devices = parse_compared("cpu:1,cpu,opencl:0", 8);
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].choice.device, "cpu");
  EXPECT_EQ(devices[0].threads, 1);
  EXPECT_EQ(devices[1].threads, 8);
  EXPECT_EQ(devices[2].choice.device, "opencl:0");
  EXPECT_THROW(parse_compared("cpu:-1", 8), Error);
}

nlohmann::ordered_json bench(double us, double deviation) {
  return {{"results",
           {{{"pipeline", "mean2"}, {"device_us", us}, {"device_deviation_us", deviation}}}}};
}

TEST(Comparison, OnlyWhatIsBeyondTheNoiseHasChanged) {
  EXPECT_EQ(changes_text(bench(100, 1), bench(104, 1)), "1 figures within the noise\n");
  EXPECT_EQ(changes_text(bench(100, 20), bench(130, 20)), "1 figures within the noise\n");
  EXPECT_EQ(changes_text(bench(100, 1), bench(130, 1)),
            "slower 1.30x: kernels 130 us, was 100 (noise 5): mean2\n0 figures within the noise\n");
  EXPECT_EQ(changes_text(bench(100, 1), bench(50, 1)),
            "faster 2.00x: kernels 50 us, was 100 (noise 5): mean2\n0 figures within the noise\n");
  EXPECT_THROW(changes_text(nlohmann::ordered_json::array(), bench(1, 1)), Error);
}

}  // namespace
}  // namespace impipe::cli
