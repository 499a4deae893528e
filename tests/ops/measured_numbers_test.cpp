// Measured numbers in expressions: `mean2 as m | map 'x - m'`.
#include <gtest/gtest.h>

#include <cmath>

#include "core/text.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using test::run;

HostImage picture(PixelClass cls, int channels) {
  return test::test_image(cls, channels, {41, 23}, 6 + static_cast<int>(cls));
}

// The same pipeline with the numbers written into it.
void expect_written(const std::string& measured, const std::string& written,
                    const HostImage& image) {
  EXPECT_EQ(test::difference(run(measured, image).image, run(written, image).image), "")
      << measured << " and " << written << " on " << test::describe(image);
}

std::string number(const std::string& measurement, const HostImage& image, std::size_t column = 0) {
  return number_text(run(measurement, image).columns.at(column));
}

TEST(MeasuredNumbers, AreTheNumbersOfTheReport) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const HostImage image = picture(cls, 1);
    const std::string m = number("mean2", image), s = number("std2", image);
    expect_written("mean2 as m | map '(x - m) / 7 + white / 2'",
                   "map '(x - " + m + ") / 7 + white / 2'", image);
    expect_written("mean2 as m | std2 as s | map '(x - m) / s' class=single",
                   "map '(x - " + m + ") / " + s + "' class=single", image);
    expect_written(
        "graythresh as t | imgaussfilt 2 | map 'x > 1.2 * t * white' class=logical",
        "imgaussfilt 2 | map 'x > 1.2 * " + number("graythresh", image) + " * white' class=logical",
        image);
    expect_written("max as top | stencil 'min(at(1,0), top / 2)' boundary=3",
                   "stencil 'min(at(1,0), " + number("max", image) + " / 2)' boundary=3", image);
  }
}

TEST(MeasuredNumbers, HaveFieldsWhereThereAreSeveral) {
  const HostImage image = picture(PixelClass::uint8, 1);
  expect_written("stats as s | map 'x > s.mean2 ? s.max : s.min'",
                 "map 'x > " + number("mean2", image) + " ? " + number("max", image) + " : " +
                     number("min", image) + "'",
                 image);
  expect_written("stretchlim 0.1 as l | map '(x / white - l.low) / (l.high - l.low) * white'",
                 "map '(x / white - " + number("stretchlim 0.1", image, 0) + ") / (" +
                     number("stretchlim 0.1", image, 1) + " - " +
                     number("stretchlim 0.1", image, 0) + ") * white'",
                 image);
  expect_written("multithresh 2 as t | map '(x > t.1) + (x > t.2)'",
                 "map '(x > " + number("multithresh 2", image, 0) + ") + (x > " +
                     number("multithresh 2", image, 1) + ")'",
                 image);
}

TEST(MeasuredNumbers, OfEachChannelForItself) {
  const HostImage image = picture(PixelClass::uint8, 3);
  const HostImage made = run("mean2 each as m | map 'x - m + 100'", image).image;
  for (int c = 0; c < 3; ++c) {
    const std::string one = "channel " + std::to_string(c + 1);
    const HostImage alone = run(one, image).image;
    EXPECT_EQ(test::difference(run(one, made).image,
                               run("map 'x - " + number("mean2", alone) + " + 100'", alone).image),
              "");
  }
  const std::vector<double> means = run("mean2 each", image).columns;
  expect_written("mean2 each as m | map 'r - m.r + g / 2 + m.b'",
                 "map 'r - " + number_text(means[0]) + " + g / 2 + " + number_text(means[2]) + "'",
                 image);
}

TEST(MeasuredNumbers, InReductionsAndHistograms) {
  const HostImage image = picture(PixelClass::uint8, 1);
  const std::string m = number("mean2", image);
  EXPECT_EQ(run("mean2 as m | reduce 'max(acc, min(x, m))'", image).columns.at(1),
            run("mean2", image).columns.at(0));
  EXPECT_EQ(run("mean2 as m | histogram '(x - m) / 8 + 20' bins=40", image).measurement,
            run("histogram '(x - " + m + ") / 8 + 20' bins=40", image).measurement);
}

TEST(MeasuredNumbers, OfASecondImage) {
  const HostImage image = picture(PixelClass::uint8, 1), other = picture(PixelClass::uint16, 1);
  const std::string m = number("mean2", other);
  EXPECT_EQ(test::difference(run("mean2 :b as m | map 'x + m / 257'", image, {{"b", other}}).image,
                             run("map 'x + " + m + " / 257'", image).image),
            "");
  EXPECT_EQ(run("mean2 :b", image, {{"b", other}}).columns, run("mean2", other).columns);
  EXPECT_EQ(run("graythresh :b | max", image, {{"b", other}}).columns.at(0),
            run("graythresh", other).columns.at(0));
}

TEST(MeasuredNumbers, StayOnTheDeviceAndJoinTheStepBefore) {
  const HostImage image = picture(PixelClass::uint8, 1);
  // The blur and its mean in one step, the map in another.
  EXPECT_EQ(run("imgaussfilt 2 | mean2 as m | map 'x > m' class=logical", image).steps, 2);
  const auto pipeline =
      pipeline::bind(pipeline::parse("imgaussfilt 2 | mean2 as m | map 'x > m' class=logical"));
  const Plan plan = pipeline::lower(pipeline, {}, {});
  const std::string text = explain(pipeline, pipeline::fuse(plan), pipeline::without_unread(plan));
  EXPECT_NE(text.find("mean2 as m"), std::string::npos) << text;
}

TEST(MeasuredNumbers, NanIsNoNumber) {
  HostImage empty = run("map '0 / 0'", picture(PixelClass::single, 1)).image;
  const HostImage made = run("max as m | map 'x > m' class=logical", empty).image;
  EXPECT_EQ(run("sum", made).columns.at(0), 0);
}

TEST(MeasuredNumbers, SayWhatIsWrong) {
  const HostImage image = picture(PixelClass::uint8, 3);
  const struct {
    const char* text;
    const char* message;
  } mistakes[] = {
      {"imgaussfilt 2 as m",
       "imgaussfilt: it measures nothing; `| as m` behind it keeps the image"},
      {"imhist 4 as h | map 'x - h'", "map: 'h' is a table; expressions take single numbers"},
      {"mean2 as white", "'white' has a meaning in expressions; choose another name"},
      {"mean2 as max", "'max' has a meaning in expressions; choose another name"},
      {"as m | mean2 as m", "'m' is used already"},
      {"mean2 as m | as m", "'m' is used already"},
      {"mean2 as 3", "as takes one name, as in `mean2 as m`"},
      {"stats as s | map 'x - s'",
       "map: 's' has several numbers: s.min, s.max, s.sum, s.mean2, s.std2"},
      {"mean2 as m | map 'x - m.low'", "map: there is no number 'm.low'; there is m"},
      {"map 'x - n.low'", "map: there is no number 'n.low'; `mean2 as m` makes one"},
      {"mean2 each as m | map 'r - m'",
       "map: 'm' has a number for each of 3 channels; write m.r, m.g or m.b"},
  };
  for (const auto& [text, message] : mistakes) {
    const std::string said = test::error_of(text, image);
    EXPECT_NE(said.find(message), std::string::npos) << text << "\n" << said;
    EXPECT_NE(said.find("^"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace impipe
