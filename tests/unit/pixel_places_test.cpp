// Where the pixels of results lie in the input: what decides which metadata still hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "backends/registry.hpp"
#include "core/error.hpp"
#include "core/pixel_change.hpp"
#include "engine/device/session.hpp"
#include "engine/program/executor.hpp"
#include "io/picture/orient.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/image_sizes.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "pipeline/pixel_places.hpp"

namespace impipe {
namespace {

constexpr Size input_size{24, 17};

// What becomes of the pixels of an input of this type.
PixelChange change_of(const pipeline::Pipeline& pipeline, const ImageType& type, Size input) {
  std::map<std::string, ImageType> types;
  std::map<std::string, Size> operand_sizes;
  for (const std::string& name : pipeline.operands) {
    types[name] = type;
    operand_sizes[name] = input;
  }
  const Plan lowered = pipeline::lower(pipeline, type, types);
  const std::vector<Size> sizes =
      pipeline::planned_sizes(pipeline, lowered, input, operand_sizes, 1 << 20);
  const auto result = static_cast<size_t>(lowered.result);
  return {.before = input,
          .type_before = type,
          .after = sizes[result],
          .place = pipeline::pixel_places(pipeline, lowered, sizes)[result]};
}

PixelChange change_of(const char* text) {
  return change_of(pipeline::bind(pipeline::parse(text)), ImageType{}, input_size);
}

// Of the first kind of image for which the pipeline is defined.
std::optional<PixelChange> change_of_some(const pipeline::Pipeline& pipeline) {
  for (const int channels : {1, 3}) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::logical, PixelClass::single}) {
      try {
        return change_of(pipeline, {.cls = cls, .channels = channels, .white = class_max(cls)},
                         {200, 150});
      } catch (const Error&) {
      }
    }
  }
  return {};
}

TEST(PixelPlaces, OfEveryOperator) {
  const std::set<std::string_view> moving = {
      "block",       "circshift", "deskew", "fftshift", "fliplr",   "flipud",
      "hough",       "ifftshift", "imcrop", "impad",    "imresize", "imrotate",
      "imtranslate", "imwarp",    "iradon", "imtile",   "montage",  "normxcorr2",
      "padarray",    "radon",     "rot90",  "transpose"};
  for (const Operator& op : catalogue()) {
    if (op.make != nullptr || op.example.find('@') != op.example.npos) continue;
    const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(std::string(op.example)));
    const std::optional<PixelChange> change = change_of_some(pipeline);
    ASSERT_TRUE(change) << op.name;
    const bool moves = std::any_of(pipeline.stages.begin(), pipeline.stages.end(),
                                   [&](const pipeline::BoundStage& stage) {
                                     return stage.call && moving.contains(stage.call->op().name);
                                   });
    EXPECT_EQ(change->moved() || change->resized(), moves) << op.example;
  }
}

class PlacesOfRamps : public testing::Test {
 protected:
  // What a pipeline makes of an image whose pixels are their own columns, or rows.
  HostImage ramp(const char* text, bool columns) {
    HostImage image({.cls = PixelClass::single, .channels = 1, .white = 1}, input_size);
    for (std::int64_t y = 0; y < input_size.height; ++y) {
      for (std::int64_t x = 0; x < input_size.width; ++x) {
        image.planes.front().row_as<float>(y)[x] = static_cast<float>(columns ? x : y);
      }
    }
    engine::Session session(pipeline::bind(pipeline::parse(text)), engine::open_device({}, pool_),
                            {});
    const auto queue = session.make_queue();
    return engine::execute(*session.program(image.type, {}), {.image = image, .operands = {}},
                           *queue)
        .image;
  }

  ThreadPool pool_{1};
};

// All of these keep what is linear, away from the image's ends.
TEST_F(PlacesOfRamps, AreThoseOfPixels) {
  for (const char* text : {"fliplr",
                           "flipud",
                           "transpose",
                           "rot90",
                           "rot90 -1",
                           "rot90 2",
                           "imcrop 3,2,15,11",
                           "imcrop size=7,9 at=southeast",
                           "impad 2,3,4,5 replicate",
                           "imresize 2 bilinear",
                           "imresize 40,30 bilinear",
                           "imresize 0.5 box",
                           "imrotate 30 bilinear",
                           "imrotate -75 bilinear crop",
                           "imrotate 90",
                           "imwarp [1.1 0.2 3; -0.1 0.9 2] bilinear",
                           "imwarp rotate=20 scale=1.5 bilinear",
                           "imtranslate 3,-2",
                           "imtranslate 3,-2 full",
                           "imfilter average,3 full",
                           "conv2 average,3 valid",
                           "imgaussfilt 0.7",
                           "fliplr | imresize 2 bilinear | imcrop 9,8,21,17 | transpose",
                           "rot90 | imrotate 10 bilinear | flipud"}) {
    const PixelChange change = change_of(text);
    ASSERT_TRUE(change.place) << text;
    const HostImage columns = ramp(text, true), rows = ramp(text, false);
    ASSERT_EQ(columns.size(), change.after) << text;
    const std::int64_t u = change.after.width / 2 + 1, v = change.after.height / 2;
    const AffinePlace& p = *change.place;
    EXPECT_NEAR(columns.planes.front().row_as<float>(v)[u], p.a * u + p.b * v + p.c, 1e-4) << text;
    EXPECT_NEAR(rows.planes.front().row_as<float>(v)[u], p.d * u + p.e * v + p.f, 1e-4) << text;
  }
}

TEST(PixelPlaces, AreNoneWhereNoAffineMapTellsThem) {
  for (const char* text : {"circshift 1,0", "imwarp [1 0 0; 0 1 0; 0.001 0 1]", "radon",
                           "imtranslate 0.5,0", "as a | imtile :a", "as a | fliplr | imadd :a"}) {
    EXPECT_FALSE(change_of(text).place) << text;
  }
}

TEST(PixelPlaces, AreThoseOfTheInputWhereNothingMoves) {
  for (const char* text : {"circshift 0", "imcrop 0,0,24,17", "impad 0", "fliplr | fliplr",
                           "rot90 | rot90 3", "stdfilt", "as a | imgaussfilt 2 | imabsdiff :a",
                           "imtranslate 2,1 full | imcrop 2,1,24,17"}) {
    const PixelChange change = change_of(text);
    EXPECT_FALSE(change.moved() || change.resized()) << text;
  }
}

TEST(PixelPlaces, FramesAndScales) {
  struct Case {
    const char* text;
    bool same_frame, scaled;
  };
  for (const Case& of : {Case{"imcomplement", true, false},
                         {"imresize 2", true, true},
                         {"imresize 0.5", true, true},
                         {"imresize 9,31", true, true},
                         {"fliplr", false, false},
                         {"rot90", false, false},
                         {"imcrop 1,1,9,9", false, false},
                         {"imrotate 20", false, true},
                         {"imresize 2 | imcrop 0,0,40,34", false, true},
                         {"circshift 1", false, true}}) {
    const PixelChange change = change_of(of.text);
    EXPECT_EQ(change.has_same_frame(), of.same_frame) << of.text;
    EXPECT_EQ(change.scaled(), of.scaled) << of.text;
  }
}

TEST(PixelPlaces, OfOrientations) {
  HostImage image(ImageType{}, {3, 2});
  for (int i = 0; i < 6; ++i) {
    image.planes.front().row_as<std::uint8_t>(i / 3)[i % 3] = static_cast<std::uint8_t>(i);
  }
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const HostImage upright = io::orient(image, orientation);
    const AffinePlace p = io::oriented_place(orientation, upright.size());
    for (std::int64_t v = 0; v < upright.size().height; ++v) {
      for (std::int64_t u = 0; u < upright.size().width; ++u) {
        const auto x = static_cast<std::int64_t>(p.a * u + p.b * v + p.c);
        const auto y = static_cast<std::int64_t>(p.d * u + p.e * v + p.f);
        EXPECT_EQ(upright.planes.front().row_as<std::uint8_t>(v)[u], 3 * y + x) << orientation;
      }
    }
  }
}

}  // namespace
}  // namespace impipe
