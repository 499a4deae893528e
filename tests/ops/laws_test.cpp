// Laws: pairs of pipelines that must agree bit for bit on any image.
#include <gtest/gtest.h>

#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

constexpr PixelClass logical = PixelClass::logical, uint8 = PixelClass::uint8,
                     uint16 = PixelClass::uint16, single = PixelClass::single;
const std::vector<PixelClass> all{logical, uint8, uint16, single};
const std::vector<PixelClass> integers{logical, uint8, uint16};
const std::vector<PixelClass> numbers{uint8, uint16, single};

struct Law {
  const char* left;
  const char* right;
  std::vector<PixelClass> classes;
};

const Law laws[] = {
    // Permutations
    {"transpose | transpose", "rot90 0", all},
    {"fliplr | fliplr", "rot90 0", all},
    {"rot90 1 | rot90 3", "rot90 0", all},
    {"rot90 2", "fliplr | flipud", all},
    {"rot90 1", "transpose | flipud", all},
    {"transpose | fliplr", "flipud | transpose", all},
    // Windows, sizes and maps
    {"fliplr | impad 1,2,3,40 replicate", "impad 1,2,40,3 replicate | fliplr", all},
    {"transpose | impad 70,2,3,4 symmetric", "impad 3,4,70,2 symmetric | transpose", all},
    {"imcrop size=50,60 percent northwest | transpose",
     "transpose | imcrop size=60,50 percent northwest", all},
    {"imcrop 0,0,1000,1000", "rot90 0", all},
    {"imresize 1", "rot90 0", all},
    {"imresize 2 nearest | imresize 0.5 nearest", "rot90 0", all},
    {"imresize 3 nearest | fliplr", "fliplr | imresize 3 nearest", all},
    {"imwarp rotate=180", "rot90 2", all},
    {"imwarp [1 0 0; 0 1 0]", "imwarp scale=1 nearest", all},
    // Point operators
    {"imcomplement | imcomplement", "rot90 0", integers},
    {"imadjust in=0,1", "rot90 0", {uint8, uint16}},
    {"gamma 1", "imadjust in=0,1", numbers},
    {"im2uint16 | im2uint8", "rot90 0", {uint8}},
    {"im2single | im2uint8", "rot90 0", {uint8}},
    {"im2single | im2uint16", "rot90 0", {uint16}},
    {"map 'x'", "rot90 0", all},
    {"map 'white - x'", "imcomplement", all},
    {"map 'x > 0.5 * white' class=logical", "imlincomb 1 | map 'x > 0.5 * white' class=logical",
     numbers},
    {"as a | imcomplement | imadd :a", "map 'white + 0 * x'", {uint8, uint16}},
    {"imlincomb 2 add=-3", "immultiply 2 | imlincomb 1 add=-3", {single}},
    // A single image with white 255 is the uint8 image it was made from
    {"conv2 [1] | im2uint8", "rot90 0", {uint8}},
    {"conv2 [1] | im2single", "im2single", {uint8, uint16}},
    {"conv2 [1] | imcomplement | im2uint8", "imcomplement", {uint8}},
    {"rgb2gray | conv2 [1] | imbinarize 0.4", "imbinarize 0.4", {uint8, uint16}},
    {"rgb2gray | conv2 [1] | imbinarize", "imbinarize", {uint8}},
    {"conv2 [1] | imadjust in=0,1 out=1,0 | im2uint8", "imcomplement", {uint8}},
    {"conv2 [1] | mat2gray", "mat2gray", {uint8, uint16}},
    {"rgb2gray | imcomplement | imcomplement", "rgb2gray", integers},
    // Morphology
    {"imerode disk,3", "imcomplement | imdilate disk,3 | imcomplement", integers},
    {"imerode [1 0 0; 0 1 0; 0 1 1]",
     "imcomplement | imdilate [1 1 0; 0 1 0; 0 0 1] | imcomplement", integers},
    {"imopen disk,3 | imopen disk,3", "imopen disk,3", all},
    {"imclose [1 1 0; 0 1 0; 0 0 1] | imclose [1 1 0; 0 1 0; 0 0 1]",
     "imclose [1 1 0; 0 1 0; 0 0 1]", all},
    {"imdilate square,3 | imdilate square,3", "imdilate square,5", all},
    {"imdilate rectangle,1,9 | imdilate rectangle,7,1", "imdilate rectangle,7,9", all},
    {"transpose | imdilate rectangle,3,5", "imdilate rectangle,5,3 | transpose", all},
    {"fliplr | imerode [1 0 0; 0 1 0; 0 1 1]", "imerode [0 0 1; 0 1 0; 1 1 0] | fliplr", all},
    {"imtophat disk,3", "as a | imopen disk,3 | imlincomb -1 1 :a", {uint8, uint16}},
    {"imdilate [1 1 1]", "stencil 'max(max(at(-1,0), x), at(1,0))'", {uint8, uint16, single}},
    // Order statistics
    {"ordfilt2 9 square,3 replicate", "imdilate square,3", all},
    {"ordfilt2 1 square,5 replicate", "imerode square,5", all},
    {"ordfilt2 5 square,3", "medfilt2", all},
    {"medfilt2 1", "rot90 0", all},
    {"fliplr | medfilt2 3,5 symmetric", "medfilt2 3,5 symmetric | fliplr", all},
    {"transpose | medfilt2 3,5 replicate", "medfilt2 5,3 replicate | transpose", all},
    {"imcomplement | medfilt2 5 replicate", "medfilt2 5 replicate | imcomplement", integers},
    // Linear filters: these weights and codes are exact in float32
    {"imfilter [0 0 1] circular | imfilter [1 0 0] circular", "rot90 0", all},
    {"conv2 [0 0 1] | map 'col == 0 ? 0 : x'", "conv2 [0 0 1]", all},  // zeros come in
    {"conv2 [1 2 1; 2 4 2; 1 2 1]", "conv2 [1 2 1] | conv2 [1; 2; 1]", {uint8}},
    {"flipud | conv2 [1 2 1; 2 4 2; 1 2 1]", "conv2 [1 2 1; 2 4 2; 1 2 1] | flipud", {uint8}},
    {"transpose | conv2 [1 2 3; 0 -1 0; 0 0 -4]",
     "conv2 [1 0 0; 2 -1 0; 3 0 -4] | transpose",
     {uint8}},
    {"immultiply 2 | conv2 k7", "conv2 k7 | immultiply 2", {single}},
    {"imfilter [1 2; 3 4]/10 conv", "conv2 [1 2; 3 4]/10 | map 'x' class=uint8", {uint8}},
    {"conv2 [1 2 3; 0 -1 0; 0 0 -4] full | conv2 [1] valid",
     "conv2 [1 2 3; 0 -1 0; 0 0 -4] full",
     {uint8, single}},
    // Edges
    {"transpose | edge sobel horizontal", "edge sobel vertical | transpose", {uint8}},
    {"fliplr | edge prewitt", "edge prewitt | fliplr", {uint8}},
    {"imcomplement | edge", "edge", {uint8}},
    {"edge", "rgb2gray | edge", {uint8, uint16, single}},
};

TEST(Laws, HoldBitForBit) {
  const Size sizes[] = {{1, 1}, {9, 1}, {1, 6}, {31, 17}, {65, 130}};
  std::uint64_t seed = 0;
  for (const Law& law : laws) {
    for (const PixelClass cls : law.classes) {
      for (const int channels : {1, 3}) {
        for (const Size size : sizes) {
          const HostImage image = test::test_image(cls, channels, size, ++seed);
          EXPECT_EQ(
              test::difference(test::run(law.left, image).image, test::run(law.right, image).image),
              "")
              << "`" << law.left << "` and `" << law.right << "` on " << test::describe(image);
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe
