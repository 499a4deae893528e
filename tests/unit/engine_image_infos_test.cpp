// What is known of pictures is kept once for all that are alike, and what differs stays apart.
#include "engine/batch/image_infos.hpp"

#include <gtest/gtest.h>

#include "engine/batch/picture.hpp"

namespace impipe::engine {
namespace {

TEST(ImageInfos, EqualOnesAreKeptOnce) {
  const io::ImageInfo base{.type = {.cls = PixelClass::uint8}, .stored = {40, 30}, .detail = "a"};
  std::vector<io::ImageInfo> different(9, base);
  different[1].format = io::Format::tiff;
  different[2].type.cls = PixelClass::uint16;
  different[3].type.channels = 3;
  different[4].type.alpha = true;
  different[5].stored = {30, 40};
  different[6].orientation = 6;
  different[7].lossy = true;
  different[8].detail = "b";
  ImageInfos infos;
  std::vector<const io::ImageInfo*> kept;
  for (const io::ImageInfo& info : different) kept.push_back(infos.keep(info));
  EXPECT_EQ(infos.size(), different.size());
  for (std::size_t i = 0; i < different.size(); ++i) {
    EXPECT_EQ(infos.keep(different[i]), kept[i]) << i;
    EXPECT_EQ(kept[i]->stored, different[i].stored) << i;
    EXPECT_EQ(kept[i]->detail, different[i].detail) << i;
  }
  EXPECT_EQ(infos.size(), different.size());
}

// A million waiting files are to cost 144 MB and the long ones of their names.
TEST(ImageInfos, AWaitingPictureIsSmall) { EXPECT_LE(sizeof(Picture), 144u); }

}  // namespace
}  // namespace impipe::engine
