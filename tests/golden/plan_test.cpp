// Plans as text: what `impipe plan` says about types, steps, barriers and bytes.
#include <gtest/gtest.h>

#include "pipeline/binder.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"

namespace impipe::pipeline {
namespace {

const ImageType gray8{};
const ImageType colour8{.channels = 3};
const ImageType gray_single{.cls = PixelClass::single, .white = 1};

std::string explained(const char* text, const ImageType& type) {
  const Pipeline pipeline = bind(parse(text));
  const Plan plan = lower(pipeline, type);
  return explain(pipeline, fuse(plan), without_unread(plan));
}

// The steps alone: one line each, with the stages, what it reads, and why it stands apart.
std::string steps(const char* text, const ImageType& type) {
  std::string out;
  for (const Step& step : fuse(lower(bind(parse(text)), type)).steps) {
    out += describe(step);
    if (!step.apart.empty()) out += "  [" + step.apart + "]";
    out += "\n";
  }
  return out;
}

TEST(Explain, TheWholeText) {
  EXPECT_EQ(explained("imadjust 0.1,0.9 | conv2 k7 | edge prewitt t0.1 nothinning", colour8),
            R"(input: uint8 x3, white 255

stages:
   1  imadjust 0.1,0.9              uint8 x3, white 255
   2  conv2 k7                      single x3, white 255
   3  edge prewitt t0.1 nothinning  logical x1, white 1

steps:
   1  point imadjust_linear + separable 7x7 constant + point rgb2gray + stencil edge_prewitt_both replicate + point edge_not_thinned
      for stage 1, 2, 3; reads the input; 4 bytes a pixel

1 steps instead of 5; 4 bytes a pixel instead of 50
note: edge: colour images go through rgb2gray first
)");
}

TEST(Explain, AMeasurementAtTheEndWritesNoImage) {
  EXPECT_EQ(explained("imcomplement | mean2", gray8),
            R"(input: uint8 x1, white 255

stages:
   1  imcomplement  uint8 x1, white 255
   2  mean2         uint8 x1, white 255

steps:
   1  point imcomplement -> reduce sum + scalar mean_of_sums
      for stage 1, 2; reads the input; 1 bytes a pixel

1 steps instead of 3; 1 bytes a pixel instead of 3
the pipeline ends in a measurement: no image is written
)");
}

TEST(Explain, ConnectedPixelsAreToldByWhatIsAsked) {
  const ImageType bits{.cls = PixelClass::logical, .white = 1};
  EXPECT_EQ(steps("bwlabel 4", bits), "label components 4-connected\n");
  EXPECT_EQ(steps("bwareaopen 9", bits), "label large 8-connected\n");
  EXPECT_EQ(steps("imfill", gray8), "label holes 4-connected\n");
  EXPECT_EQ(steps("imregionalmax", gray8), "label maxima 8-connected\n");
  EXPECT_EQ(steps("imregionalmin", gray8), "label minima 8-connected\n");
  EXPECT_EQ(steps("as a | imreconstruct :a", gray8), "label reconstruct 8-connected\n");
  EXPECT_NE(steps("edge canny", gray8).find("label reach 8-connected"), std::string::npos);
}

struct Golden {
  const char* pipeline;
  ImageType type;
  const char* steps;
};
class FusionTest : public testing::TestWithParam<Golden> {};

TEST_P(FusionTest, Steps) {
  EXPECT_EQ(steps(GetParam().pipeline, GetParam().type), GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, FusionTest,
    testing::Values(
        Golden{"imcomplement", gray8, "point imcomplement\n"},
        // Ten point stages: one kernel.
        Golden{
            "imcomplement | imcomplement | imadjust 0.1,0.9 | imcomplement | imadjust 0.2,0.7 | "
            "imcomplement | imadjust 0,1 0.1,0.8 | imcomplement | imadjust 0.1,0.9 | imcomplement",
            gray8,
            "point imcomplement + point imcomplement + point imadjust_linear + point "
            "imcomplement + point imadjust_linear + point imcomplement + point imadjust_linear "
            "+ point imcomplement + point imadjust_linear + point imcomplement\n"},
        Golden{"transpose | imcomplement | fliplr", gray8,
               "permute transpose + point imcomplement + permute flip x\n"},
        Golden{"imopen disk,5", gray8, "extremum min 11x11 mask + extremum max 11x11 mask\n"},
        // A halo that costs more than storing.
        Golden{"imopen square,101", gray8,
               "extremum min 101x101\n"
               "extremum max 101x101  [computing its halo again costs more than storing]\n"},
        Golden{
            "imfilter [1 1 1;1 1 2;1 1 1]/10 circular | imfilter [1 1 1;1 1 2;1 1 1]/10 circular",
            gray_single,
            "stencil 3x3 circular\n"
            "stencil 3x3 circular  [a circular border needs the whole image]\n"},
        Golden{"medfilt2 | transpose", gray8,
               "rank 5 of 3x3 constant\n"
               "permute transpose  [a permutation fuses with point stages only]\n"},
        // What is computed twice is computed once, and reductions of one image share a step.
        Golden{"mean2 | sum | min", gray8, "reduce sum + scalar mean_of_sums + reduce min\n"},
        Golden{"as a | imdilate square,3 | imlincomb 1 -1 :a", gray8,
               "extremum max 3x3 + point imlincomb_2\n"},
        // Nobody reads the first complement. The second is read before and after the barrier.
        Golden{"as a | imcomplement | imlincomb 0 1 :a | imcomplement | as b | mean2 | medfilt2 | "
               "imabsdiff :b",
               gray8,
               "point imcomplement + point imlincomb_2 + point imcomplement -> the image + reduce "
               "sum + scalar mean_of_sums\n"
               "rank 5 of 3x3 constant + point imabsdiff  [2 steps read it, and storing is cheaper "
               "than computing it again]\n"},
        // The threshold needs the gradient's mean; the gradient itself is cheap and computed twice.
        Golden{"edge sobel", gray8,
               "stencil edge_sobel_both replicate -> reduce sum + scalar edge_threshold\n"
               "stencil edge_sobel_both replicate + stencil edge_thinned constant  [it needs a "
               "measurement of the whole image]\n"},
        // The limits of floats are of those strengths that are finite.
        Golden{"edge canny", gray_single,
               "separable 16x16 replicate\n"
               "stencil canny_strength replicate -> reduce finite max + reduce finite sum + reduce "
               "finite count + scalar canny_thresholds  [2 steps read it, and storing is cheaper "
               "than computing it again]\n"
               "stencil canny_strength replicate + stencil canny_ridges constant + stencil "
               "canny_direction replicate + point canny_code  [2 steps read it, and storing is "
               "cheaper than computing it again]\n"
               "label reach 8-connected  [label works on a whole image]\n"},
        // What only computes with measurements is one launch.
        Golden{
            "max | min", colour8,
            "reduce max + reduce min\n"
            "scalar largest_of_channels + scalar min_of_channels  [it needs a measurement of the "
            "whole image]\n"},
        Golden{"graythresh | imbinarize", gray8,
               "histogram 256 bins + scalar otsu_parts + scalar otsu_parts\n"
               "point above  [it needs a measurement of the whole image]\n"}));

// Where a neighbourhood of another one takes memory all the same, it is read and not made again.
TEST(Fusion, StrengthsAreStoredWhereNeighbourhoodsDoNotNest) {
  const Plan plan = lower(bind(parse("edge canny")), gray8);
  EXPECT_EQ(describe(fuse(plan, false).steps[1]),
            "stencil canny_strength replicate -> the image + reduce max + reduce sum + scalar "
            "canny_thresholds");
  EXPECT_EQ(describe(fuse(plan, true).steps[1]),
            "stencil canny_strength replicate -> reduce max + reduce sum + scalar "
            "canny_thresholds");
}

// Two ways lead from each stage to the one before: 2^200 paths, none of which is walked alone.
TEST(Fusion, LongPipelinesTakeNoTime) {
  for (const std::string stage : {"histeq", "imtophat [0 1]", "imadjust"}) {
    std::string text = stage;
    for (int i = 1; i < 200; ++i) text += " | " + stage;
    const Plan plan = fuse(lower(bind(parse(text)), gray8));
    EXPECT_GE(plan.steps.size(), 100u) << stage;
  }
}

}  // namespace
}  // namespace impipe::pipeline
