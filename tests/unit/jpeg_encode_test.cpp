// JPEGs that a device encodes are, byte for byte, those of libjpeg-turbo.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/opencl/device.hpp"
#include "engine/tools/made_image.hpp"
#include "io/codec.hpp"
#include "io/jpeg_encoding.hpp"
#include "support/backend_compare.hpp"

namespace impipe::testing {
namespace {

class JpegEncode : public ::testing::Test {
 protected:
  struct Encoder {
    std::unique_ptr<Device> device;
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<Queue> queue;
  };

  void SetUp() override {
    static constexpr Backend backends[] = {{"opencl", opencl::devices, opencl::open},
                                           {"cuda", cuda::devices, cuda::open}};
    for (const Backend& backend : backends) {
      auto device = device_of(backend, pool_);
      if (device == nullptr) continue;
      auto kernel = device->prepare_jpeg_encoder();
      auto queue = device->make_queue();
      encoders_.push_back({std::move(device), std::move(kernel), std::move(queue)});
    }
    if (encoders_.empty()) GTEST_SKIP() << "no OpenCL device";
  }

  // The device's data of images of one size; empty where it has no room for them.
  static std::vector<std::vector<std::byte>> data_of(const Encoder& by,
                                                     const std::vector<Planes>& images,
                                                     const std::vector<const CodedJpeg*>& jpegs) {
    Queue& queue = *by.queue;
    const int count = static_cast<int>(images.size());
    const DeviceValue room{
        queue.allocate_stack(PixelClass::uint8, 1, {jpeg_room(jpegs.front()->form), 1}, count),
        nullptr};
    const DeviceValue numbers{nullptr, queue.allocate_measure_stack(1, 2, count)};
    queue.run(*by.kernel,
              {nullptr, {{queue.upload_stack(images), nullptr}}, {room, numbers}, jpegs});
    const CodedPlaces places(queue.download(*numbers.measure));
    std::vector<std::vector<std::byte>> data(images.size());
    if (places.size.height == 0) return data;
    const DeviceValue taken{queue.allocate(PixelClass::uint8, 1, places.size), nullptr};
    queue.run(*by.kernel, {nullptr, {room, numbers}, {taken}, {}});
    const Plane bytes = queue.download(*taken.plane).front();
    for (std::size_t i = 0; i < images.size(); ++i) {
      const std::byte* begin = bytes.row(0) + places.begins[i];
      data[i].assign(begin, begin + places.bytes[i]);
    }
    return data;
  }
  static std::vector<std::byte> data_of(const Encoder& by, const HostImage& image,
                                        const CodedJpeg& jpeg) {
    return data_of(by, std::vector<Planes>{image.planes}, {&jpeg}).front();
  }

  void expect_equal(const HostImage& image, const io::EncodeOptions& options,
                    const std::string& name) {
    const io::Bytes expected =
        io::encode(image, {}, io::Format::jpeg, PixelClass::uint8, options).bytes;
    const auto jpeg = io::coded_output(image.type, image.size(), {}, options);
    ASSERT_TRUE(jpeg) << name;
    for (const Encoder& encoder : encoders_) {
      const std::vector<std::byte> data = data_of(encoder, image, *jpeg);
      ASSERT_FALSE(data.empty()) << name;
      const io::Bytes made = io::encode_coded(data, image.type, image.size(), {}, options).bytes;
      EXPECT_TRUE(made == expected) << encoder.device->info().id << ": " << name << ": "
                                    << made.size() << " bytes instead of " << expected.size();
    }
  }

  ThreadPool pool_{0};
  std::vector<Encoder> encoders_;
};

// A picture, or noise of all codes.
HostImage image_of(int channels, Size size, unsigned seed, bool noise) {
  HostImage image = engine::make_natural_image(PixelClass::uint8, channels, size, seed);
  if (!noise) return image;
  std::mt19937 random(seed);
  for (Plane& plane : image.planes) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(random() & 255U);
      }
    }
  }
  return image;
}

TEST_F(JpegEncode, HasTheBytesOfTheHost) {
  constexpr Size sizes[] = {{1, 1},   {2, 3},   {7, 9},    {8, 8},     {9, 17},
                            {16, 16}, {17, 15}, {25, 40},  {33, 31},   {64, 48},
                            {1, 50},  {50, 1},  {123, 77}, {300, 210}, {24, 24},
                            {40, 8},  {8, 40},  {47, 47},  {641, 333}};
  constexpr std::array<int, 2> samplings[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
  constexpr int qualities[] = {90, 75, 95, 100, 50, 20, 5, 1};
  unsigned seed = 0;
  for (const Size size : sizes) {
    for (const bool noise : {false, true}) {
      for (const auto& sampling : samplings) {
        io::EncodeOptions options;
        options.quality = qualities[seed++ % 8];
        options.subsampling = sampling;
        expect_equal(image_of(3, size, seed, noise), options,
                     to_string(size) + ", " + std::to_string(sampling[0]) + "x" +
                         std::to_string(sampling[1]) + ", quality " +
                         std::to_string(options.quality) + (noise ? ", noise" : ""));
      }
      io::EncodeOptions options;
      options.quality = qualities[seed++ % 8];
      expect_equal(image_of(1, size, seed, noise), options, to_string(size) + ", gray");
    }
  }
}

// Of one form and several tables.
TEST_F(JpegEncode, AStackHasTheBytesOfEach) {
  constexpr Size size = {333, 150};
  for (const int channels : {1, 3}) {
    std::vector<Planes> images;
    std::vector<std::shared_ptr<const CodedJpeg>> kept;
    std::vector<const CodedJpeg*> jpegs;
    std::vector<io::Bytes> expected;
    for (int i = 0; i < 9; ++i) {
      const HostImage image = image_of(channels, size, static_cast<unsigned>(i), i % 4 == 3);
      io::EncodeOptions options;
      options.quality = i == 5 ? 100 : 60 + 5 * (i / 2);
      options.subsampling = {2, 1};
      images.push_back(image.planes);
      jpegs.push_back(kept.emplace_back(io::coded_output(image.type, size, {}, options)).get());
      expected.push_back(io::encode(image, {}, io::Format::jpeg, PixelClass::uint8, options).bytes);
    }
    for (const Encoder& encoder : encoders_) {
      const auto data = data_of(encoder, images, jpegs);
      for (std::size_t i = 0; i < images.size(); ++i) {
        io::EncodeOptions options;
        options.quality = i == 5 ? 100 : 60 + 5 * (static_cast<int>(i) / 2);
        options.subsampling = {2, 1};
        const ImageType type = image_of(channels, {1, 1}, 0, false).type;
        EXPECT_TRUE(io::encode_coded(data[i], type, size, {}, options).bytes == expected[i])
            << encoder.device->info().id << ": picture " << i << " of " << channels;
      }
    }
  }
}

TEST_F(JpegEncode, HasTheBytesOfTheHostAtEveryQuality) {
  for (int quality = 1; quality <= 100; quality += 3) {
    for (const bool noise : {false, true}) {
      io::EncodeOptions options;
      options.quality = quality;
      options.subsampling = {2, 2};
      expect_equal(image_of(3, {150, 110}, static_cast<unsigned>(quality), noise), options,
                   "quality " + std::to_string(quality));
    }
  }
}

TEST_F(JpegEncode, LeavesToTheHostWhatItDoesNotKnow) {
  const ImageType colour{.cls = PixelClass::uint8, .channels = 3};
  EXPECT_TRUE(io::coded_output(colour, {10, 10}, {}, {}));
  io::EncodeOptions small;
  small.compression = io::Compression::small;
  EXPECT_FALSE(io::coded_output(colour, {10, 10}, {}, small));
  io::Metadata progressive;
  progressive.jpeg = io::JpegStorage{};
  progressive.jpeg->progressive = true;
  EXPECT_FALSE(io::coded_output(colour, {10, 10}, progressive, {}));
  ImageType wide = colour;
  wide.cls = PixelClass::uint16;
  wide.white = 65535;
  EXPECT_FALSE(io::coded_output(wide, {10, 10}, {}, {}));
  EXPECT_FALSE(io::coded_output(colour, {65501, 10}, {}, {}));
}

}  // namespace
}  // namespace impipe::testing
