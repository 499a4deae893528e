// What operators say about arguments and images they can't take: whole messages.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

struct Row {
  const char* text;
  PixelClass cls;
  const char* error;
};

constexpr PixelClass logical = PixelClass::logical, uint8 = PixelClass::uint8,
                     single = PixelClass::single;

const Row rows[] = {
    {"imadjust 0.9,0.1", uint8,
     "pipeline:1:10: imadjust: the first limit of in must not be above the second; swap out to "
     "invert\n"
     "  imadjust 0.9,0.1\n"
     "           ^^^^^^^"},
    {"imadjust 0.1,0.9 tol=0.1", uint8,
     "pipeline:1:22: imadjust: tol goes with in=stretchlim only\n"
     "  imadjust 0.1,0.9 tol=0.1\n"
     "                       ^^^"},
    {"imadjust", logical,
     "pipeline:1:1: imadjust: it is not defined for a logical image; it takes uint8, uint16, "
     "single\n"
     "  imadjust\n"
     "  ^^^^^^^^"},
    {"imlincomb 1 2", uint8,
     "pipeline:1:11: imlincomb: there are 2 weights for 1 images (the current one and those "
     "named); "
     "each needs one\n"
     "  imlincomb 1 2\n"
     "            ^^^"},
    {"imlincomb 1 1 :sixteen", uint8,
     "pipeline:1:1: imlincomb: the current image is uint8 with white 255, :sixteen is uint16 with "
     "white 65535\n"
     "  imlincomb 1 1 :sixteen\n"
     "  ^^^^^^^^^^^^^^^^^^^^^^"},
    {"imdilate disk,0:3", uint8,
     "pipeline:1:15: imdilate: the numbers of disk are no range\n"
     "  imdilate disk,0:3\n"
     "                ^^^"},
    {"conv2 fspecial:gaussian,1:5", uint8,
     "pipeline:1:25: conv2: the numbers of gaussian are no range\n"
     "  conv2 fspecial:gaussian,1:5\n"
     "                          ^^^"},
    {"imdilate square,1001 | imdilate square,1001 | imdilate square,1001 | imdilate square,1001 | "
     "imdilate square,1001",
     uint8,
     "pipeline:1:93: imdilate: the kernels, elements and lists of the pipeline have more than "
     "4194304 numbers up to here\n"
     "  …square,1001 | imdilate square,1001 | imdilate square,1001 | imdilate square,1001\n"
     "                                                               "
     "^^^^^^^^^^^^^^^^^^^^"},
    {"imgradient direction | im2uint8", uint8,
     "pipeline:1:24: im2uint8: the image has no white to scale by; use mat2gray first\n"
     "  imgradient direction | im2uint8\n"
     "                         ^^^^^^^^"},
    {"intlut :sixteen", uint8,
     "pipeline:1:8: intlut: the table :sixteen is uint16, the image is uint8; they must be the "
     "same\n"
     "  intlut :sixteen\n"
     "         ^^^^^^^^"},
    {"intlut :gray", uint8, "intlut: the table :gray is 4x3, a uint8 image needs 256 values"},
    {"imadjust gamma=[]", uint8,
     "pipeline:1:16: imadjust: the matrix is empty\n"
     "  imadjust gamma=[]\n"
     "                 ^^"},
    {"intlut :colour", uint8,
     "pipeline:1:8: intlut: the table :colour must have one channel\n"
     "  intlut :colour\n"
     "         ^^^^^^^"},
    {"conv2", uint8,
     "pipeline:1:1: conv2: give a kernel or a size: `conv2 k7`, `conv2 [1 2 1; 2 4 2; 1 2 1]/16` "
     "or "
     "`conv2 fspecial:gaussian,5,1.2`\n"
     "  conv2\n"
     "  ^^^^^"},
    {"conv2 sobel k7", uint8,
     "pipeline:1:13: conv2: size goes alone, or with `gaussian` or `average` without numbers\n"
     "  conv2 sobel k7\n"
     "              ^^"},
    {"conv2 fspecial:gausian,5", uint8,
     "pipeline:1:7: conv2: there is no kernel 'gausian'; did you mean 'gaussian'?\n"
     "  conv2 fspecial:gausian,5\n"
     "        ^^^^^^^^^^^^^^^^^^"},
    {"conv2 blob", uint8,
     "pipeline:1:7: conv2: there is no kernel 'blob'; known ones are average, disk, gaussian, "
     "laplacian, log, motion, prewitt, sobel, unsharp\n"
     "  conv2 blob\n"
     "        ^^^^"},
    {"conv2 fspecial:disk,2.5", uint8,
     "pipeline:1:7: conv2: the radius of disk is a whole number from 0 to 127, not 2.5\n"
     "  conv2 fspecial:disk,2.5\n"
     "        ^^^^^^^^^^^^^^^^^"},
    {"imfilter sobel,3", uint8,
     "pipeline:1:10: imfilter: sobel takes no argument after the first 0\n"
     "  imfilter sobel,3\n"
     "           ^^^^^^^"},
    {"edge roberts vertical", uint8,
     "pipeline:1:14: edge: direction goes with sobel and prewitt only\n"
     "  edge roberts vertical\n"
     "               ^^^^^^^^"},
    {"edge sobel sigma=2", uint8,
     "pipeline:1:18: edge: sigma does not go with sobel\n"
     "  edge sobel sigma=2\n"
     "                   ^"},
    {"edge cany", uint8,
     "pipeline:1:6: edge: there is no method 'cany'; did you mean 'canny'?\n"
     "  edge cany\n"
     "       ^^^^"},
    {"edge canny gaussian", uint8,
     "pipeline:1:12: edge: filter does not go with canny\n"
     "  edge canny gaussian\n"
     "             ^^^^^^^^"},
    {"edge canny 0.3 2", uint8,
     "pipeline:1:12: edge: canny's thresholds are parts of the largest strength, up to 1; its "
     "sigma "
     "is sigma=2\n"
     "  edge canny 0.3 2\n"
     "             ^^^^^"},
    {"edge canny [0.3 0.1]", uint8,
     "pipeline:1:12: edge: canny's lower threshold comes first\n"
     "  edge canny [0.3 0.1]\n"
     "             ^^^^^^^^^"},
    {"edge log 0.003,2", uint8,
     "pipeline:1:10: edge: two thresholds go with canny only; its sigma is sigma=2\n"
     "  edge log 0.003,2\n"
     "           ^^^^^^^"},
    {"regionprops Aera", uint8,
     "pipeline:1:13: regionprops: there is no property 'aera'; did you mean 'Area'?\n"
     "  regionprops Aera\n"
     "              ^^^^"},
    {"regionprops Area,MeanIntensity", uint8,
     "pipeline:1:13: regionprops: MeanIntensity is measured on a second image: give image=:name\n"
     "  regionprops Area,MeanIntensity\n"
     "              ^^^^^^^^^^^^^^^^^^"},
    {"roipoly [1 2 3]", uint8,
     "pipeline:1:9: roipoly: a vertex is a row of two numbers, x,y: [2,2; 10,2; 10,8]\n"
     "  roipoly [1 2 3]\n"
     "          ^^^^^^^"},
    {"edge zerocross", uint8,
     "pipeline:1:1: edge: zerocross needs a kernel: filter=fspecial:log,9,1.5\n"
     "  edge zerocross\n"
     "  ^^^^^^^^^^^^^^"},
    {"edge", logical,
     "pipeline:1:1: edge: it is not defined for a logical image; it takes uint8, uint16, single\n"
     "  edge\n"
     "  ^^^^"},
    {"imdilate disc,3", uint8,
     "pipeline:1:10: imdilate: there is no element 'disc'; did you mean 'disk'?\n"
     "  imdilate disc,3\n"
     "           ^^^^^^"},
    {"imdilate line,3,1e18", uint8,
     "pipeline:1:10: imdilate: line,length,degrees takes a number from -1000000 to 1000000, not "
     "1e+18\n"
     "  imdilate line,3,1e18\n"
     "           ^^^^^^^^^^^"},
    {"imdilate line,3", uint8,
     "pipeline:1:10: imdilate: a line is written line,length,degrees\n"
     "  imdilate line,3\n"
     "           ^^^^^^"},
    {"imdilate disk,3,5", uint8,
     "pipeline:1:10: imdilate: a disk of lines has 4, 6 or 8 of them; disk,radius is exact\n"
     "  imdilate disk,3,5\n"
     "           ^^^^^^^^"},
    {"imopen octagon,4", uint8,
     "pipeline:1:8: imopen: the radius of an octagon is a multiple of 3\n"
     "  imopen octagon,4\n"
     "         ^^^^^^^^^"},
    {"imerode [1 2]", uint8,
     "pipeline:1:9: imerode: an element is made of 0 and 1, not 2\n"
     "  imerode [1 2]\n"
     "          ^^^^^"},
    {"imerode [0 0]", uint8,
     "pipeline:1:9: imerode: the element has no cell that is 1\n"
     "  imerode [0 0]\n"
     "          ^^^^^"},
    {"mat2gray 3,1", single,
     "pipeline:1:10: mat2gray: the first limit must not be above the second\n"
     "  mat2gray 3,1\n"
     "           ^^^"},
    {"stretchlim 0.9", single,
     "pipeline:1:12: stretchlim: the first part of tol must not be above the second\n"
     "  stretchlim 0.9\n"
     "             ^^^"},
    {"stencil 'at(3,0)' r2", uint8,
     "pipeline:1:9: stencil: the expression reads 3 pixels away, the radius is 2\n"
     "  stencil 'at(3,0)' r2\n"
     "          ^^^^^^^^^"},
    {"conv2 k7 valid", uint8, "conv2: the image is only 4x3, so that nothing is left of it"},
};

TEST(Mistakes, AreToldWhole) {
  for (const Row& row : rows) {
    const HostImage image = test::test_image(row.cls, 1, {4, 3}, 1);
    EXPECT_EQ(test::error_of(row.text, image,
                             {{"gray", image},
                              {"sixteen", test::test_image(PixelClass::uint16, 1, {4, 3}, 2)},
                              {"colour", test::test_image(PixelClass::uint8, 3, {4, 3}, 3)}}),
              row.error);
  }
}

TEST(Mistakes, StrictRefusesImplicitGray) {
  const HostImage gray = test::test_image(uint8, 1, {4, 3}, 1);
  const HostImage colour = test::test_image(uint8, 3, {4, 3}, 1);
  EXPECT_EQ(test::error_of("edge", gray, {}, {.strict = true}), "");
  EXPECT_EQ(test::error_of("rgb2gray", colour, {}, {.strict = true}), "");
  EXPECT_EQ(test::error_of("edge", colour, {}, {.strict = true}),
            "pipeline:1:1: edge: it is defined for one channel and the image has colour; put "
            "rgb2gray before it\n  edge\n  ^^^^");
  EXPECT_EQ(test::error_of("rgb2gray", gray, {}, {.strict = true}),
            "pipeline:1:1: rgb2gray: the image is gray already\n  rgb2gray\n  ^^^^^^^^");
}

TEST(Mistakes, OfSources) {
  const std::pair<const char*, const char*> sources[] = {
      {"fspecial gaussian radius=3",
       "pipeline:1:26: fspecial: radius does not go with gaussian\n"
       "  fspecial gaussian radius=3\n"
       "                           ^"},
      {"constant 0.1,0.2",
       "pipeline:1:10: constant: value takes 1 number, or 3 for a colour\n"
       "  constant 0.1,0.2\n"
       "           ^^^^^^^"},
  };
  for (const auto& [text, message] : sources) {
    try {
      test::run(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace impipe
