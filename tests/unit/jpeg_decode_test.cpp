// JPEGs that a device decodes have the pixels of libjpeg-turbo, or are left to it.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/opencl/device.hpp"
#include "io/codec.hpp"
#include "io/formats/jpeg/jpeg_scan.hpp"
#include "support/backend_compare.hpp"
#include "support/made_jpeg.hpp"

namespace impipe::testing {
namespace {

using Content = JpegCase::Content;

// What each device makes of pictures of one form.
class Decoder {
 public:
  explicit Decoder(std::unique_ptr<Device> device)
      : device_(std::move(device)),
        kernel_(device_->prepare_jpeg_decoder()),
        queue_(device_->make_queue()) {}
  ~Decoder() { kernel_.reset(); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  struct Result {
    std::vector<Planes> images;
    std::vector<double> faults;
  };
  Result decode(const std::vector<const CodedJpeg*>& jpegs) {
    const JpegForm& form = jpegs.front()->form;
    const int count = static_cast<int>(jpegs.size());
    const auto image = queue_->allocate_stack(PixelClass::uint8, form.components, form.size, count);
    const auto faults = queue_->allocate_measure_stack(1, 1, count);
    queue_->run(*kernel_, {nullptr, {}, {{image, nullptr}, {nullptr, faults}}, jpegs});
    return {queue_->download_stack(*image), queue_->download(*faults)};
  }
  const std::string& id() const { return device_->info().id; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Queue> queue_;
};

class JpegDecode : public ::testing::Test {
 protected:
  void SetUp() override {
    static constexpr Backend backends[] = {{"opencl", opencl::devices, opencl::open},
                                           {"cuda", cuda::devices, cuda::open}};
    for (const Backend& backend : backends) {
      if (auto device = device_of(backend, pool_)) {
        decoders_.push_back(std::make_unique<Decoder>(std::move(device)));
      }
    }
    if (decoders_.empty()) GTEST_SKIP() << "no OpenCL device";
  }

  // Where the planes differ from those of libjpeg-turbo; empty where they do not.
  static std::string difference(const Planes& planes, const std::vector<std::byte>& file) {
    const HostImage expected = io::decode(file).image;
    if (planes.size() != expected.planes.size()) return "channels";
    for (std::size_t c = 0; c < planes.size(); ++c) {
      for (std::int64_t y = 0; y < expected.size().height; ++y) {
        for (std::int64_t x = 0; x < expected.size().width; ++x) {
          const int a = planes[c].row_as<std::uint8_t>(y)[x];
          const int b = expected.planes[c].row_as<std::uint8_t>(y)[x];
          if (a == b) continue;
          return "channel " + std::to_string(c) + " at " + std::to_string(x) + ", " +
                 std::to_string(y) + ": " + std::to_string(a) + " instead of " + std::to_string(b);
        }
      }
    }
    return "";
  }

  void expect_equal(const JpegCase& jpeg, unsigned seed) {
    const std::vector<std::byte> file = made_jpeg(jpeg, seed);
    const auto coded = io::scan_jpeg(file);
    ASSERT_TRUE(coded) << to_string(jpeg);
    for (const auto& decoder : decoders_) {
      const Decoder::Result made = decoder->decode({&*coded});
      ASSERT_EQ(made.faults[0], 0) << decoder->id() << ": " << to_string(jpeg);
      EXPECT_EQ(difference(made.images[0], file), "") << decoder->id() << ": " << to_string(jpeg);
    }
  }

  ThreadPool pool_{0};
  std::vector<std::unique_ptr<Decoder>> decoders_;
};

constexpr int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};

TEST_F(JpegDecode, HasThePixelsOfTheHostAtEverySize) {
  constexpr Size sizes[] = {{1, 1}, {2, 1},   {1, 2},   {3, 5},    {4, 4},    {5, 3},    {7, 8},
                            {8, 8}, {9, 9},   {15, 17}, {16, 16},  {17, 15},  {33, 1},   {1, 33},
                            {6, 6}, {64, 48}, {63, 95}, {257, 31}, {31, 300}, {403, 299}};
  unsigned seed = 1;
  for (const auto& [across, down] : samplings) {
    for (const Size size : sizes) {
      expect_equal({.size = size, .across = across, .down = down}, seed++);
      expect_equal({.size = size, .across = across, .down = down, .content = Content::noise},
                   seed++);
    }
  }
  for (const Size size : sizes) expect_equal({.size = size, .components = 1}, seed++);
}

TEST_F(JpegDecode, HasThePixelsOfTheHostAtEveryQuality) {
  unsigned seed = 1000;
  for (const int quality : {1, 2, 5, 10, 25, 40, 50, 60, 75, 85, 92, 95, 98, 99, 100}) {
    for (const bool optimised : {false, true}) {
      for (const Content content : {Content::natural, Content::noise, Content::flat}) {
        const auto& [across, down] = samplings[seed / 2 % 4];
        expect_equal({.size = {190, 130},
                      .across = across,
                      .down = down,
                      .quality = quality,
                      .optimised = optimised,
                      .content = content},
                     seed++);
        expect_equal({.size = {130, 90},
                      .components = 1,
                      .quality = quality,
                      .optimised = optimised,
                      .content = content},
                     seed++);
      }
    }
  }
}

// Equal blocks of few bits, of which nothing tells the beginning; and many groups of pieces.
TEST_F(JpegDecode, HasThePixelsOfTheHostWhereItsPiecesDoNotFallIntoStep) {
  for (const auto& [across, down] : samplings) {
    expect_equal({.size = {2100, 1500}, .across = across, .down = down, .content = Content::flat},
                 1);
    expect_equal({.size = {2100, 1500},
                  .across = across,
                  .down = down,
                  .optimised = true,
                  .content = Content::flat},
                 1);
  }
  expect_equal({.size = {1600, 1200}, .quality = 98, .content = Content::noise}, 1);
  expect_equal({.size = {1600, 1200}, .quality = 50}, 1);
}

TEST_F(JpegDecode, HasThePixelsOfTheHostWithRestarts) {
  unsigned seed = 2000;
  for (const int restarts : {1, 2, 3, 7, 13, 50, 10000}) {
    for (const auto& [across, down] : samplings) {
      expect_equal({.size = {209, 147}, .across = across, .down = down, .restarts = restarts},
                   seed++);
    }
    expect_equal({.size = {209, 147}, .components = 1, .restarts = restarts}, seed++);
    expect_equal({.size = {709, 547}, .quality = 97, .restarts = 10 * restarts}, seed++);
  }
}

TEST_F(JpegDecode, TakesSeveralPicturesOfOneForm) {
  std::vector<std::vector<std::byte>> files;
  std::vector<CodedJpeg> coded;
  std::vector<const CodedJpeg*> jpegs;
  for (unsigned i = 0; i < 9; ++i) {
    files.push_back(made_jpeg({.size = {201, 143},
                               .quality = i < 3 ? 90 : 10 + 10 * static_cast<int>(i),
                               .optimised = i % 4 == 1,
                               .restarts = i % 3 == 2 ? 5 : 0,
                               .content = i % 5 == 4 ? Content::noise : Content::natural},
                              i));
  }
  files[6][files[6].size() / 2] ^= std::byte{0x55};
  for (const auto& file : files) {
    auto one = io::scan_jpeg(file);
    ASSERT_TRUE(one);
    coded.push_back(std::move(*one));
  }
  for (const CodedJpeg& one : coded) jpegs.push_back(&one);
  for (const auto& decoder : decoders_) {
    const Decoder::Result made = decoder->decode(jpegs);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (i == 6) continue;
      EXPECT_EQ(made.faults[i], 0) << i;
      EXPECT_EQ(difference(made.images[i], files[i]), "") << decoder->id() << ": " << i;
    }
  }
}

TEST_F(JpegDecode, LeavesToTheHostWhatItDoesNotKnow) {
  EXPECT_TRUE(io::scan_jpeg(made_jpeg({}, 1)));
  EXPECT_FALSE(io::scan_jpeg(made_jpeg({.progressive = true}, 1)));
  EXPECT_FALSE(io::scan_jpeg(made_jpeg({.across = 1, .down = 1, .rgb = true}, 1)));
  EXPECT_FALSE(io::scan_jpeg(made_jpeg({.across = 4, .down = 1}, 1)));
  std::vector<std::byte> file = made_jpeg({.restarts = 3}, 1);
  file.resize(file.size() - 2);
  EXPECT_FALSE(io::scan_jpeg(file));
  EXPECT_FALSE(io::scan_jpeg({}));
}

// Of a damaged picture, pixels come from the device only where the host has the same ones.
TEST_F(JpegDecode, HasTheResultOfTheHostWhereDataAreDamaged) {
  std::mt19937 random(7);
  int decoded = 0, left = 0;
  for (unsigned i = 0; i < 300; ++i) {
    std::vector<std::byte> file = made_jpeg({.size = {120, 90},
                                             .components = i % 5 == 0 ? 1 : 3,
                                             .quality = 20 + static_cast<int>(i % 80),
                                             .optimised = i % 3 == 0,
                                             .restarts = i % 4 == 0 ? 6 : 0},
                                            i);
    const std::size_t flips = 1 + random() % 3;
    for (std::size_t k = 0; k < flips; ++k) {
      const std::size_t from = i % 2 == 0 ? file.size() / 3 : 2;
      file[from + random() % (file.size() - from)] ^= static_cast<std::byte>(1U << random() % 8);
    }
    if (i % 7 == 0)
      file.erase(file.end() - 40 - static_cast<std::ptrdiff_t>(random() % 99), file.end() - 2);
    const auto coded = io::scan_jpeg(file);
    if (!coded) continue;
    for (const auto& decoder : decoders_) {
      const Decoder::Result made = decoder->decode({&*coded});
      ++(made.faults[0] == 0 ? decoded : left);
      if (made.faults[0] != 0) continue;
      try {
        EXPECT_EQ(difference(made.images[0], file), "") << decoder->id() << ": " << i;
      } catch (const std::exception& e) {
        ADD_FAILURE() << decoder->id() << ": " << i << ": the host says " << e.what();
      }
    }
  }
  EXPECT_GT(decoded, 10);
  EXPECT_GT(left, 10);
}

}  // namespace
}  // namespace impipe::testing
