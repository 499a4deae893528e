// What the descriptions of stacks say of pages, and what they say of some of them.
#include <gtest/gtest.h>

#include "io/formats/tiff/tiff_description.hpp"
#include "io/formats/tiff/tiff_header.hpp"

namespace impipe::io {
namespace {

constexpr std::uint64_t separate = 2;

TiffLayout layout(std::uint64_t samples = 1, std::uint64_t planar = 1) {
  TiffLayout out;
  out.size = {30, 40};
  out.samples = samples;
  out.planar = planar;
  return out;
}

std::int64_t planes(const char* text, const TiffLayout& l = layout()) {
  return described_planes(text, l);
}

TEST(TiffDescription, CountsPlanesOfImagej) {
  EXPECT_EQ(planes("ImageJ=1.53t\nimages=12\nslices=12\n"), 12);
  EXPECT_EQ(planes("SCIFIO=0.42\nimages=12\n"), 12);
  EXPECT_EQ(planes("ImageJ=1.53t\nslices=3\nframes=2"), 6);
  EXPECT_EQ(planes("ImageJ=1.53t\nmin=0\n"), 1);
  EXPECT_EQ(planes("ImageJ=1.53t\nimages=0\n"), 1);
  EXPECT_EQ(planes("images=12\n"), 1);
  // Bio-Formats counts samples that lie apart as channels.
  EXPECT_EQ(planes("ImageJ=\nimages=6\nchannels=3\nslices=2\n", layout(3, separate)), 2);
  EXPECT_EQ(planes("ImageJ=\nimages=6\nchannels=3\nslices=2\n", layout(3)), 6);
}

TEST(TiffDescription, CountsPlanesOfShapes) {
  EXPECT_EQ(planes(R"({"shape": [5, 40, 30]})"), 5);
  EXPECT_EQ(planes(R"({"axes": "TZYX", "shape": [2,3,40,30]})"), 6);
  EXPECT_EQ(planes(R"({"shape": [5, 40, 30, 3]})", layout(3)), 5);
  EXPECT_EQ(planes(R"({"shape": [40, 30]})"), 1);
  EXPECT_EQ(planes("shape=(5, 40, 30)"), 5);
  // Of pages of another size, and what is no list of sizes.
  EXPECT_EQ(planes(R"({"shape": [5, 41, 30]})"), 1);
  EXPECT_EQ(planes(R"({"shape": [5, 40, 30)"), 1);
  EXPECT_EQ(planes(R"({"shape": [-5, 40, 30]})"), 1);
  EXPECT_EQ(planes(R"({"shape": "5"})"), 1);
}

std::string of_pages(const char* text, std::int64_t pages, const char* expected_lost = "",
                     const TiffLayout& l = layout()) {
  std::vector<std::string> lost;
  std::string out = description_of_pages(text, l, pages, {}, lost);
  std::string names;
  for (const std::string& name : lost) names += name;
  EXPECT_EQ(names, expected_lost) << text;
  return out;
}

TEST(TiffDescription, OfImagejFollowsThePages) {
  const char* one = "ImageJ=1.53t\nimages=12\nslices=12\nunit=um\n";
  EXPECT_EQ(of_pages(one, 12), one);
  EXPECT_EQ(of_pages(one, 3), "ImageJ=1.53t\nimages=3\nslices=3\nunit=um\n");
  EXPECT_EQ(of_pages(one, 1), "ImageJ=1.53t\nunit=um\n");
  const char* several = "ImageJ=1.53t\nimages=12\nchannels=2\nframes=6\nhyperstack=true\nunit=um\n";
  EXPECT_EQ(of_pages(several, 12), several);
  EXPECT_EQ(of_pages(several, 3, "ImageJ's channels=2 frames=6"),
            "ImageJ=1.53t\nimages=3\nunit=um\n");
}

TEST(TiffDescription, OfAShapeFollowsThePages) {
  EXPECT_EQ(of_pages(R"({"shape": [5, 40, 30], "axes": "ZYX"})", 5),
            R"({"shape": [5, 40, 30], "axes": "ZYX"})");
  EXPECT_EQ(of_pages(R"({"shape": [5, 40, 30], "axes": "ZYX"})", 2),
            R"({"shape": [2, 40, 30], "axes": "ZYX"})");
  EXPECT_EQ(of_pages(R"({"axes": "ZYX", "note": "5, 40, 30", "shape": [5, 40, 30]})", 1),
            R"({"axes": "YX", "note": "5, 40, 30", "shape": [40, 30]})");
  EXPECT_EQ(of_pages(R"({"shape": [2, 3, 40, 30], "axes": "TZYX"})", 4,
                     "tifffile's shape (2, 3, 40, 30)"),
            R"({"shape": [4, 40, 30], "axes": "QYX"})");
  EXPECT_EQ(of_pages("shape=(5, 40, 30)", 2), "shape=(2, 40, 30)");
}

TEST(TiffDescription, PagesAreDirectoriesNotTruncated) {
  // As tifffile 2023.2 and 2026.3 write it.
  EXPECT_EQ(of_pages(R"({"truncated": true, "shape": [5, 40, 30]})", 5),
            R"({"shape": [5, 40, 30]})");
  EXPECT_EQ(of_pages(R"({"shape": [5, 40, 30], "truncated": true})", 5),
            R"({"shape": [5, 40, 30]})");
}

}  // namespace
}  // namespace impipe::io
