// What the program says to those who write MATLAB's names.
#include <gtest/gtest.h>

#include "core/operator.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/hints.hpp"
#include "pipeline/parser.hpp"

namespace impipe {
namespace {

std::string error_of(const std::string& text) {
  try {
    pipeline::bind(pipeline::parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Hints, SayWhatDoesTheWork) {
  EXPECT_EQ(error_of("imread | imcomplement"),
            "pipeline:1:1: impipe has no imread; the files named after the pipeline are read\n"
            "  imread | imcomplement\n  ^^^^^^");
  EXPECT_EQ(pipeline::hint_for("RGB2NTSC"), pipeline::hint_for("rgb2ntsc"));
  EXPECT_EQ(pipeline::hint_for("imadjust2"), "");
}

TEST(Hints, OfVolumesNameWhatThereIsForImages) {
  EXPECT_EQ(error_of("ordfilt3"),
            "pipeline:1:1: impipe has no ordfilt3; `ordfilt2` does each page by itself, and none "
            "like it works on volumes (3-D)\n  ordfilt3\n  ^^^^^^^^");
  // MATLAB's, of which the flat ones end with 2 or with nothing.
  for (const char* name : {"imrotate3", "edge3", "imgradient3", "imcrop3", "bwmorph3"}) {
    const std::string flat(name, std::string(name).size() - 1);
    EXPECT_EQ(pipeline::hint_for(name),
              "`" + flat + "` does each page by itself, and none like it works on volumes (3-D)");
  }
}

TEST(Hints, AreForWhatIsNotHere) {
  // In the order in which they are searched; a name that has become an operator needs no hint.
  for (const Operator& op : catalogue()) EXPECT_EQ(pipeline::hint_for(op.name), "") << op.name;
  for (const char* name : {"abs", "and", "double", "xor", "zeros"}) {
    EXPECT_NE(pipeline::hint_for(name), "") << name;
  }
}

// A parameter that does not go with the method takes no number from one that does.
TEST(Names, OfEdgesTakeMatlabsOrder) {
  const auto sigma_of = [](const std::string& text) {
    const auto pipeline = pipeline::bind(pipeline::parse(text));
    const Call& call = *pipeline.stages.at(0).call;
    return call.has("sigma") ? call.number("sigma") : -1;
  };
  for (const char* text : {"edge canny [0.1 0.3] 1", "edge canny 0.1,0.3 1", "edge canny [] 1",
                           "edge canny 0.1 0.3 1", "edge log 0.01 1", "edge log [] 1"}) {
    EXPECT_EQ(sigma_of(text), 1) << text;
  }
  for (const char* text : {"edge sobel 0.1", "edge sobel [] 1", "edge canny 0.1 0.3"}) {
    EXPECT_EQ(sigma_of(text), -1) << text;
  }
}

TEST(Hints, SayWhereAMeasuredNumberGoes) {
  EXPECT_EQ(error_of("mean2 as m | imadd :m"),
            "pipeline:1:20: imadd: 'm' is a number, and not an image: write m\n"
            "  mean2 as m | imadd :m\n                     ^^");
  EXPECT_EQ(error_of("mean2 as | map 'x'"),
            "pipeline:1:7: as takes one name, as in `mean2 as m`\n"
            "  mean2 as | map 'x'\n        ^^");
}

TEST(Names, AreFoundWhateverTheirCase) {
  EXPECT_EQ(find_operator("ImAdjust"), find_operator("imadjust"));
  EXPECT_EQ(error_of("Edge Canny"), "");
  EXPECT_EQ(error_of("edge CANNY [0.1 0.3]"), "");
  EXPECT_EQ(error_of("edge canny 0.1,0.3 2"), "");
  EXPECT_EQ(error_of("edge canny [0.1 0.3] 2"), "");
  EXPECT_EQ(error_of("rgb2ycbcr 709"), "");
  EXPECT_EQ(error_of("imsharpen Radius=2 Amount=1 | imresize SCALE=0.5 METHOD=Nearest"), "");
}

TEST(Hints, ShowTheSpellingThatWasMeant) {
  EXPECT_EQ(error_of("edge 'Canny'"),
            "pipeline:1:6: edge: words stand without quotes: canny\n"
            "  edge 'Canny'\n       ^^^^^^^");
  EXPECT_EQ(error_of("imnoise 'salt & pepper' 0.02"),
            "pipeline:1:9: imnoise: words stand without quotes: salt\n"
            "  imnoise 'salt & pepper' 0.02\n          ^^^^^^^^^^^^^^^");
  EXPECT_EQ(error_of("imdilate disk 3"),
            "pipeline:1:15: imdilate: the numbers of disk follow it with commas: disk,3\n"
            "  imdilate disk 3\n                ^");
  EXPECT_EQ(error_of("medfilt2 501"),
            "pipeline:1:10: medfilt2: size takes 1 to 2 whole numbers from 1 to 255, not 501\n"
            "  medfilt2 501\n           ^^^");
  EXPECT_EQ(error_of("imdilate strel disk 3"),
            "pipeline:1:10: imdilate: what strel makes follows it with a colon: strel:disk,3\n"
            "  imdilate strel disk 3\n           ^^^^^");
  EXPECT_EQ(error_of("conv2 fspecial gaussian 5 1"),
            "pipeline:1:7: conv2: what fspecial makes follows it with a colon: "
            "fspecial:gaussian,5,1\n"
            "  conv2 fspecial gaussian 5 1\n        ^^^^^^^^");
  EXPECT_EQ(error_of("map x*2"),
            "pipeline:1:5: map: an expression stands in quotes: 'x*2'\n  map x*2\n      ^^^");
  EXPECT_EQ(error_of("map unit8"),
            "pipeline:1:5: map: no parameter takes 'unit8'; did you mean 'uint8'?\n"
            "  map unit8\n      ^^^^^");
  EXPECT_EQ(error_of("imadjust low"),
            "pipeline:1:10: imadjust: no parameter takes 'low'; known words are stretchlim or []\n"
            "  imadjust low\n           ^^^");
}

}  // namespace
}  // namespace impipe
