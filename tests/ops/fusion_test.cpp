// Fusion never changes a bit: `--no-fuse` gives the same image and the same numbers.
#include <gtest/gtest.h>

#include <random>

#include "support/pipeline_runner.hpp"
#include "support/rounds.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

// Fused and stage by stage; says how they differ, and counts the steps that fusion saved.
std::string fusion_difference(const std::string& pipeline, const HostImage& image, int& saved) {
  const test::Ran fused = test::run(pipeline, image);
  const test::Ran apart = test::run(pipeline, image, {}, {.fuse = false});
  saved += apart.steps - fused.steps;
  if (fused.columns != apart.columns) return "the numbers differ";
  return test::difference(apart.image, fused.image);
}

// Neighbourhood stages with every border rule there is: constants, zeros, replicate, symmetric,
// circular, absent pixels; 2-D, separable, rank and extremum; odd, even and one-sided windows.
const std::string neighbourhoods[] = {
    "imfilter [1 2 3;0 -1 0;2 0 -4]/4 0.5",
    "imfilter [1 2 3;0 -1 0;2 0 -4]/4 replicate",
    "imfilter [1 2 3;0 -1 0;2 0 -4]/4 symmetric",
    "imfilter [1 2 3;0 -1 0;2 0 -4]/4 circular",
    "imfilter [1 2 4 2 1]/10 symmetric",
    "imfilter [1 2;2 4]/9 replicate",
    "imgaussfilt 1.2",
    "conv2 [1 -2 1 0;0 3 1 1]",
    "conv2 [1 2 1;2 4 2;1 2 1]/16",
    "medfilt2 3,5",
    "medfilt2 5,3 symmetric",
    "imdilate disk,2",
    "imerode [1 1 0 0;0 1 1 1]",
};

TEST(Fusion, PairsOfBorderRulesAtSmallSizes) {
  int saved = 0;
  const int step = test::is_sanitized() ? 4 : 1;
  for (const std::string& first : neighbourhoods) {
    for (const std::string& second : neighbourhoods) {
      for (int height = 1; height <= 9; height += step) {
        for (int width = 1; width <= 9; width += step) {
          const std::string pipeline = "imcomplement | " + first + " | " + second;
          const HostImage image =
              test::test_image(PixelClass::uint8, 1, {width, height}, width * 10 + height);
          ASSERT_EQ(fusion_difference(pipeline, image, saved), "")
              << pipeline << " at " << width << "x" << height;
        }
      }
    }
  }
  EXPECT_GT(saved, 20'000 / (step * step));  // nearly every pair of these fuses
}

TEST(Fusion, RandomChains) {
  const std::string others[] = {"imadjust",
                                "imadjust 0.2,0.8 0.1,0.9",
                                "imcomplement",
                                "im2uint16",
                                "im2single",
                                "im2uint8",
                                "transpose",
                                "fliplr",
                                "rot90 1",
                                "rgb2gray",
                                "imlincomb 0.7 0.4 :k",
                                "map 'x / 2 + 7'",
                                "stencil 'at(1,0) - at(0,-1) + at(0,0)' r1",
                                "mean2",
                                "std2",
                                "imtophat disk,1",
                                "imgradmorph square,3",
                                "edge prewitt",
                                "edge sobel t0.1 nothinning",
                                "mat2gray"};
  std::mt19937 random(20240817);
  const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  int saved = 0, done = 0;
  for (int round = 0; round < test::rounds(1500); ++round) {
    std::string pipeline = "as k | ";
    for (int stages = 2 + random() % 6; stages > 0; --stages) {
      pipeline += random() % 2 != 0 ? pick(neighbourhoods) : pick(others);
      if (stages > 1) pipeline += random() % 5 == 0 ? " | as k | " : " | ";
    }
    const PixelClass classes[] = {PixelClass::uint8, PixelClass::uint16, PixelClass::single};
    const HostImage image = test::test_image(
        pick(classes), random() % 3 == 0 ? 3 : 1,
        {1 + static_cast<int>(random() % 90), 1 + static_cast<int>(random() % 70)}, round);
    // Chains that have no meaning (:k of another size, a class an operator does not take) are left
    // out.
    if (!test::error_of(pipeline, image).empty()) continue;
    ++done;
    ASSERT_EQ(fusion_difference(pipeline, image, saved), "")
        << pipeline << " on " << test::describe(image);
  }
  EXPECT_GT(done, test::rounds(500));
  EXPECT_GT(saved, test::rounds(1000));
}

}  // namespace
}  // namespace impipe
