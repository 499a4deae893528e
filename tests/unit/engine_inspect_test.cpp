// How two images differ.
#include "engine/tools/inspect.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace impipe::engine {
namespace {

HostImage single(std::vector<float> values, double white = 1) {
  HostImage image({.cls = PixelClass::single, .white = white},
                  {static_cast<std::int64_t>(values.size()), 1});
  for (size_t i = 0; i < values.size(); ++i) image.planes.front().row_as<float>(0)[i] = values[i];
  return image;
}

HostImage bytes(std::vector<int> values) {
  HostImage image(ImageType{}, {static_cast<std::int64_t>(values.size()), 1});
  for (size_t i = 0; i < values.size(); ++i) {
    image.planes.front().row_as<std::uint8_t>(0)[i] = static_cast<std::uint8_t>(values[i]);
  }
  return image;
}

TEST(Compare, EqualImagesAreTheSame) {
  const Difference d = compare(bytes({1, 2, 3}), bytes({1, 2, 3}), {});
  EXPECT_TRUE(d.same);
  EXPECT_EQ(d.max, 0);
  EXPECT_EQ(d.pixels, 3);
}

TEST(Compare, DifferencesAreFractionsOfWhite) {
  const Difference d = compare(bytes({0, 51, 0, 0}), bytes({0, 0, 0, 0}), {});
  EXPECT_DOUBLE_EQ(d.max, 0.2);
  EXPECT_DOUBLE_EQ(d.mean, 0.05);
  EXPECT_DOUBLE_EQ(d.rms, 0.1);
  EXPECT_EQ(d.max_x, 1);
  EXPECT_EQ(d.failing, 1);
  EXPECT_FALSE(d.same);
}

TEST(Compare, ClassesMayDiffer) {
  EXPECT_TRUE(compare(bytes({255, 51}), single({1.0F, 0.2F}), {}).same);
}

TEST(Compare, LimitsAreLikeThoseOfIdiff) {
  const HostImage a = bytes({0, 0, 0, 0}), b = bytes({0, 51, 0, 0});
  struct Row {
    DifferenceOptions options;
    bool same;
  };
  const Row rows[] = {
      {{.fail = 0.25}, true},
      {{.fail = 0.1}, false},
      {{.fail = 0.1, .fail_percent = 25}, true},
      {{.fail = 0.1, .fail_percent = 24}, false},
      {{.fail = 0.1, .fail_percent = 25, .hard_fail = 0.15}, false},
      {{.fail = 0.1, .fail_percent = 25, .hard_fail = 0.2}, true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(compare(a, b, row.options).same, row.same)
        << row.options.fail << " " << row.options.fail_percent << " " << row.options.hard_fail;
  }
}

TEST(Compare, NanEqualsNanAlone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(compare(single({nan}), single({nan}), {}).same);
  const Difference d = compare(single({nan}), single({0}), {});
  EXPECT_FALSE(d.same);
  EXPECT_TRUE(std::isinf(d.max));
}

TEST(Compare, UnlikeImagesSayWhy) {
  EXPECT_EQ(compare(bytes({1}), bytes({1, 2}), {}).unlike, "1x1 and 2x1");
  const HostImage colour({.channels = 3}, {1, 1});
  EXPECT_EQ(compare(bytes({1}), colour, {}).unlike, "1 channel, and 3 channels");
}

}  // namespace
}  // namespace impipe::engine
