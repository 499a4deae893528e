// Lossless pictures that a device decodes have the pixels they were made of, or are left to the
// host: expected are the samples that zlib's and libdeflate's streams were made from, by the
// formats' definitions, and what zlib makes of damaged streams.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/jit/codec/codec.hpp"
#include "backends/opencl/device.hpp"
#include "core/unpacks.hpp"
#include "support/backend_compare.hpp"
#include "support/made_packed.hpp"

namespace impipe::testing {
namespace {

using Alpha = PackedForm::Alpha;
using Filter = PackedForm::Filter;
using Order = PackedForm::Order;
using Packing = PackedForm::Packing;
using Sample = PackedForm::Sample;
using Library = Packer::Library;

// What a device makes of pictures of one form.
class Unpacker {
 public:
  explicit Unpacker(Device& device)
      : kernel_(device.prepare_unpacker()), queue_(device.make_queue()) {}

  struct Result {
    std::vector<Planes> images;  // alpha behind the colours
    std::vector<double> faults, glows;
  };
  Result decode(const std::vector<const PackedPicture*>& pictures) {
    const PackedForm& form = pictures.front()->form;
    const int count = static_cast<int>(pictures.size());
    const auto image = queue_->allocate_stack(form.cls, form.colours(), form.size, count);
    const auto faults = queue_->allocate_measure_stack(1, 2, count);
    Launch launch;
    launch.outputs = {{image, nullptr}, {nullptr, faults}};
    launch.packed = pictures;
    if (form.alpha == Alpha::none) {
      queue_->run(*kernel_, launch);
      return result(queue_->download_stack(*image), {}, queue_->download(*faults));
    }
    const auto alpha = queue_->allocate_stack(form.cls, 1, form.size, count);
    launch.outputs.push_back({alpha, nullptr});
    queue_->run(*kernel_, launch);
    return result(queue_->download_stack(*image), queue_->download_stack(*alpha),
                  queue_->download(*faults));
  }

 private:
  static Result result(std::vector<Planes> images, const std::vector<Planes>& alphas,
                       const std::vector<double>& numbers) {
    Result out{std::move(images), {}, {}};
    for (std::size_t i = 0; i < out.images.size(); ++i) {
      if (!alphas.empty()) out.images[i].push_back(alphas[i].front());
      out.faults.push_back(numbers[2 * i]);
      out.glows.push_back(numbers[2 * i + 1]);
    }
    return out;
  }

  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Queue> queue_;
};

class Unpack : public ::testing::Test {
 protected:
  void SetUp() override {
    open({"opencl", opencl::devices, opencl::open, {}, {}});
    open({"cuda", cuda::devices, cuda::open, {}, {}});
    if (devices_.empty()) GTEST_SKIP() << "no OpenCL device";
  }
  void open(const Backend& backend) {
    if (auto device = device_of(backend, pool_)) devices_.push_back(std::move(device));
  }

  // One for each device: the program is the same for every form.
  std::vector<std::unique_ptr<Unpacker>>& unpackers() {
    if (unpackers_.empty()) {
      for (const auto& device : devices_) {
        unpackers_.push_back(std::make_unique<Unpacker>(*device));
      }
    }
    return unpackers_;
  }

  void expect_equal(const std::vector<MadePicture>& pictures) {
    std::vector<const PackedPicture*> packed;
    for (const MadePicture& one : pictures) packed.push_back(&one.packed);
    const PackedForm& form = pictures.front().packed.form;
    ASSERT_TRUE(unpacks(form)) << to_string(form);
    for (auto& unpacker : unpackers()) {
      const Unpacker::Result made = unpacker->decode(packed);
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        EXPECT_EQ(made.faults[i], 0) << to_string(form) << ": " << i;
        EXPECT_EQ(difference(made.images[i], pictures[i].expected), "")
            << to_string(form) << ": " << i;
      }
    }
  }

  ThreadPool pool_{0};
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Unpacker>> unpackers_;
};

constexpr Packer packers[] = {{Library::zlib, 6, Z_DEFAULT_STRATEGY},
                              {Library::zlib, 1, Z_DEFAULT_STRATEGY},
                              {Library::zlib, 9, Z_FILTERED},
                              {Library::zlib, 6, Z_HUFFMAN_ONLY},
                              {Library::zlib, 6, Z_RLE},
                              {Library::zlib, 6, Z_FIXED},
                              {Library::zlib, 0, Z_DEFAULT_STRATEGY},
                              {Library::libdeflate, 1, 0},
                              {Library::libdeflate, 6, 0},
                              {Library::libdeflate, 12, 0}};

PackedForm strips_of_bytes() {
  PackedForm form;
  form.packing = Packing::zlib;
  form.size = {61, 45};
  form.chunk = {61, 16};
  form.channel_of = {0};
  return form;
}

PackedForm exr_blocks() {
  PackedForm form;
  form.cls = PixelClass::single;
  form.channels = 3;
  form.size = {75, 37};
  form.packing = Packing::zlib;
  form.filter = Filter::exr;
  form.sample = Sample::half;
  form.bits = 16;
  form.order = Order::by_row;
  form.channel_of = {2, 1, 0};
  form.chunk = {75, 16};
  return form;
}

PackedForm tiff_strips() {
  PackedForm form;
  form.cls = PixelClass::uint16;
  form.channels = 3;
  form.size = {77, 41};
  form.packing = Packing::zlib;
  form.filter = Filter::differences;
  form.bits = 16;
  form.channel_of = {0, 1, 2};
  form.chunk = {77, 8};
  return form;
}

TEST_F(Unpack, HasThePixelsOfEveryPackerAndContent) {
  unsigned seed = 1;
  for (const Packer& packer : packers) {
    std::vector<MadePicture> pictures;
    for (const Samples samples :
         {Samples::noise, Samples::natural, Samples::flat, Samples::drawn}) {
      PackedForm form = strips_of_bytes();
      form.size = {301, 203};
      form.chunk = {301, 150};
      pictures.push_back(made_packed(form, samples, packer, seed++));
    }
    expect_equal(pictures);
  }
}

TEST_F(Unpack, HasThePixelsAtEverySize) {
  unsigned seed = 100;
  for (const Size size : {Size{1, 1},
                          {2, 1},
                          {1, 2},
                          {3, 5},
                          {4, 4},
                          {17, 31},
                          {128, 3},
                          {129, 2},
                          {1, 300},
                          {513, 7},
                          {1031, 9}}) {
    for (const std::int64_t rows : {1, 7, 400}) {
      for (PackedForm form : {strips_of_bytes(), exr_blocks(), tiff_strips()}) {
        form.size = size;
        form.chunk = {size.width, rows};
        std::vector<MadePicture> pictures;
        for (const Samples samples : {Samples::noise, Samples::natural, Samples::drawn}) {
          pictures.push_back(made_packed(form, samples, packers[seed % 10], seed));
          ++seed;
        }
        expect_equal(pictures);
      }
    }
  }
}

TEST_F(Unpack, HasThePixelsOfRunLengths) {
  unsigned seed = 300;
  for (const Size size : {Size{1, 1}, {5, 3}, {129, 33}, {700, 41}}) {
    for (PackedForm form : {strips_of_bytes(), exr_blocks(), tiff_strips()}) {
      form.packing = form.filter == Filter::exr ? Packing::exr_rle : Packing::packbits;
      form.size = size;
      form.chunk = {size.width, 16};
      std::vector<MadePicture> pictures;
      for (const Samples samples :
           {Samples::noise, Samples::natural, Samples::flat, Samples::drawn}) {
        pictures.push_back(made_packed(form, samples, {}, seed++));
      }
      if (form.filter == Filter::exr) {
        pictures.push_back(made_packed(form, Samples::noise, {}, seed++,
                                       [](std::size_t i) { return i % 2 == 0; }));
      }
      expect_equal(pictures);
    }
  }
}

TEST_F(Unpack, HasThePixelsOfLzw) {
  unsigned seed = 400;
  for (const Size size : {Size{1, 1}, {5, 3}, {129, 33}, {700, 141}}) {
    for (PackedForm form : {strips_of_bytes(), tiff_strips()}) {
      form.packing = Packing::lzw;
      form.size = size;
      form.chunk = {size.width, 50};
      std::vector<MadePicture> pictures;
      for (const Samples samples :
           {Samples::noise, Samples::natural, Samples::flat, Samples::drawn}) {
        pictures.push_back(made_packed(form, samples, {}, seed++));
      }
      expect_equal(pictures);
    }
  }
}

// Damaged LZW ends somewhere, in whatever bytes, or is left to the host; cut off it is left to it.
TEST_F(Unpack, LeavesDamagedLzwToTheHost) {
  PackedForm form = strips_of_bytes();
  form.packing = Packing::lzw;
  form.size = form.chunk = {150, 90};
  std::mt19937 random(3);
  std::vector<MadePicture> pictures;
  for (unsigned i = 0; i < 60; ++i) {
    MadePicture one = made_packed(form, i % 3 == 0 ? Samples::drawn : Samples::natural, {}, i);
    std::vector<std::byte>& bytes = one.packed.bytes;
    for (unsigned k = 0; k < i % 4; ++k) {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
    }
    if (i % 4 == 0) bytes.resize(random() % (bytes.size() - 4));
    one.packed.chunks[0].bytes = static_cast<std::int64_t>(bytes.size());
    pictures.push_back(std::move(one));
  }
  std::vector<const PackedPicture*> packed;
  for (const MadePicture& one : pictures) packed.push_back(&one.packed);
  for (auto& unpacker : unpackers()) {
    const Unpacker::Result made = unpacker->decode(packed);
    for (std::size_t i = 0; i < pictures.size(); i += 4) EXPECT_NE(made.faults[i], 0) << i;
  }
}

// A byte less or more, and lengths beyond the end of either.
TEST_F(Unpack, LeavesOtherRunLengthsToTheHost) {
  for (const Packing packing : {Packing::packbits, Packing::exr_rle}) {
    PackedForm form = strips_of_bytes();
    form.packing = packing;
    form.size = form.chunk = {100, 2};
    const bool is_exr = packing == Packing::exr_rle;
    const auto hundred = static_cast<std::byte>(is_exr ? 99 : 157);
    const auto pair = static_cast<std::byte>(is_exr ? 254 : 1);
    const std::byte one{0}, v{7};
    const std::vector<std::vector<std::byte>> streams = {
        {hundred, v, hundred, v},          {hundred, v},
        {hundred, v, hundred, v, one, v},  {hundred, v, hundred},
        {hundred, v, hundred, v, pair, v}, {}};
    std::vector<MadePicture> pictures;
    for (const auto& stream : streams) {
      MadePicture picture = made_packed(form, Samples::flat, {}, 1);
      picture.packed.bytes = stream;
      picture.packed.chunks = {{0, static_cast<std::int64_t>(stream.size()), false}};
      pictures.push_back(std::move(picture));
    }
    std::vector<const PackedPicture*> packed;
    for (const MadePicture& picture : pictures) packed.push_back(&picture.packed);
    for (auto& unpacker : unpackers()) {
      const Unpacker::Result made = unpacker->decode(packed);
      for (std::size_t i = 0; i < streams.size(); ++i) {
        EXPECT_EQ(made.faults[i] == 0, i == 0) << i;
      }
      EXPECT_EQ(made.images[0][0].row_as<std::uint8_t>(1)[99], 7);
    }
  }
}

// OpenEXR stores blocks that packing makes no smaller, as they are.
TEST_F(Unpack, TakesChunksThatAreStored) {
  const auto some = [](std::size_t i) { return i % 2 == 1; };
  expect_equal({made_packed(exr_blocks(), Samples::natural, {}, 1, some),
                made_packed(exr_blocks(), Samples::noise, {}, 2, [](std::size_t) { return true; }),
                made_packed(exr_blocks(), Samples::noise, {}, 3)});
}

TEST_F(Unpack, HasThePixelsOfTiles) {
  PackedForm form = tiff_strips();
  form.padded = true;
  form.chunk = {16, 32};
  for (const Size size : {Size{1, 1}, {16, 32}, {17, 33}, {100, 90}}) {
    form.size = size;
    expect_equal(
        {made_packed(form, Samples::natural, {}, 1), made_packed(form, Samples::noise, {}, 2)});
    // Tiles that end with the picture.
    PackedForm cropped = form;
    cropped.padded = false;
    expect_equal({made_packed(cropped, Samples::natural, {}, 3)});
  }
}

TEST_F(Unpack, TakesManyPictures) {
  std::vector<MadePicture> pictures;
  for (unsigned i = 0; i < 40; ++i) {
    PackedForm form = strips_of_bytes();
    form.size = {33, 21};
    form.chunk = {33, 5};
    pictures.push_back(
        made_packed(form, i % 3 == 0 ? Samples::noise : Samples::natural, packers[i % 10], i));
  }
  expect_equal(pictures);
}

std::vector<PackedForm> all_forms() {
  std::vector<PackedForm> forms;
  const auto add = [&](auto change) {
    PackedForm form = tiff_strips();
    form.filter = Filter::none;
    change(form);
    forms.push_back(form);
  };
  const auto depth = [](PackedForm& form, int bits, PixelClass cls, Sample sample) {
    form.bits = bits;
    form.cls = cls;
    form.sample = sample;
  };
  for (const int bits : {1, 2, 4}) {
    add([&](PackedForm& form) {
      depth(form, bits, bits == 1 ? PixelClass::logical : PixelClass::uint8, Sample::integer);
      form.channels = bits == 2 ? 3 : 1;
      form.channel_of =
          bits == 2 ? std::vector<std::uint8_t>{2, 0, 1} : std::vector<std::uint8_t>{0};
      form.inverted = bits == 4;
    });
  }
  add([&](PackedForm& form) {
    depth(form, 8, PixelClass::uint8, Sample::integer);
    form.filter = Filter::differences;
    form.order = Order::by_plane;
    form.inverted = true;
    form.packing = Packing::none;
  });
  add([&](PackedForm& form) {
    form.filter = Filter::differences;
    form.big_endian = true;
    form.channels = 4;
    form.channel_of = {3, 2, 1, 0};
  });
  add([&](PackedForm& form) {
    depth(form, 32, PixelClass::single, Sample::floating);
    form.filter = Filter::float_differences;
    form.big_endian = true;  // which the predictor's own order of bytes has nothing to do with
  });
  add([&](PackedForm& form) {
    depth(form, 32, PixelClass::single, Sample::floating);
    form.filter = Filter::differences;
    form.big_endian = true;
    form.order = Order::by_plane;
  });
  add([&](PackedForm& form) {
    depth(form, 16, PixelClass::single, Sample::half);
    form.filter = Filter::float_differences;
  });
  for (const int bits : {8, 16}) {
    add([&](PackedForm& form) {
      depth(form, bits, PixelClass::single, Sample::signed_integer);
      form.filter = Filter::differences;
      form.big_endian = true;
    });
  }
  add([&](PackedForm& form) {
    depth(form, 32, PixelClass::single, Sample::floating);
    form.filter = Filter::exr;
    form.order = Order::by_row;
    form.channels = 4;
    form.channel_of = {3, 2, 1, 0};
  });
  for (const int bits : {16, 24}) {
    add([&](PackedForm& form) {
      depth(form, bits, PixelClass::single, bits == 16 ? Sample::half : Sample::floating);
      form.filter = Filter::pxr24;
      form.order = Order::by_row;
      form.channels = 3;
      form.channel_of = {2, 1, 0};
    });
  }
  return forms;
}

TEST_F(Unpack, KnowsEveryForm) {
  unsigned seed = 500;
  for (PackedForm form : all_forms()) {
    for (const Size size : {Size{1, 1}, {13, 4}, {131, 40}}) {
      form.size = size;
      form.chunk = {size.width, 7};
      std::vector<MadePicture> pictures;
      for (const Samples samples : {Samples::noise, Samples::natural, Samples::drawn}) {
        pictures.push_back(made_packed(form, samples, packers[seed % 10], seed));
        ++seed;
      }
      expect_equal(pictures);
    }
  }
}

PackedForm png_rows() {
  PackedForm form = strips_of_bytes();
  form.filter = Filter::png;
  form.chunk = form.size;
  return form;
}

TEST_F(Unpack, HasThePixelsOfPngAtEverySize) {
  unsigned seed = 900;
  for (const Size size : {Size{1, 1},
                          {2, 1},
                          {1, 2},
                          {3, 5},
                          {4, 33},
                          {17, 31},
                          {128, 32},
                          {33, 97},
                          {1, 300},
                          {513, 7},
                          {1031, 65}}) {
    PackedForm form = png_rows();
    form.size = form.chunk = size;
    std::vector<MadePicture> pictures;
    for (const Samples samples : {Samples::noise, Samples::natural, Samples::drawn}) {
      pictures.push_back(made_packed(form, samples, packers[seed % 10], seed));
      ++seed;
    }
    expect_equal(pictures);
  }
}

TEST_F(Unpack, HasThePixelsOfPngOfEveryDepth) {
  unsigned seed = 1000;
  const auto expect = [&](int channels, int bits) {
    PackedForm form = png_rows();
    form.cls = bits == 16 ? PixelClass::uint16 : PixelClass::uint8;
    form.channels = channels;
    form.bits = bits;
    form.big_endian = true;
    form.channel_of.clear();
    for (int c = 0; c < channels; ++c) form.channel_of.push_back(static_cast<std::uint8_t>(c));
    for (const Size size : {Size{1, 3}, {67, 70}}) {
      form.size = form.chunk = size;
      expect_equal({made_packed(form, Samples::noise, {}, seed),
                    made_packed(form, Samples::natural, packers[seed % 10], seed + 1)});
      ++seed;
    }
  };
  expect(1, 1);
  expect(1, 4);
  expect(2, 8);
  expect(3, 8);
  expect(4, 8);
  expect(1, 16);
  expect(3, 16);
  expect(4, 16);
}

TEST_F(Unpack, HasAlphaInPlanesOfItsOwn) {
  unsigned seed = 3000;
  for (PackedForm form : {png_rows(), tiff_strips(), exr_blocks()}) {
    for (const int channels : {2, 4}) {
      form.channels = channels;
      form.channel_of =
          channels == 2 ? std::vector<std::uint8_t>{1, 0} : std::vector<std::uint8_t>{3, 1, 0, 2};
      form.alpha = Alpha::straight;
      for (const Size size : {Size{1, 1}, {5, 3}, {131, 40}}) {
        form.size = form.chunk = size;
        expect_equal({made_packed(form, Samples::natural, {}, seed),
                      made_packed(form, Samples::noise, {}, seed + 1)});
        seed += 2;
      }
    }
  }
}

// Integers of every colour and alpha there are in eight bits; floats but for those that are none.
TEST_F(Unpack, DividesByAssociatedAlpha) {
  PackedForm form = strips_of_bytes();
  form.channels = 2;
  form.channel_of = {0, 1};
  form.alpha = Alpha::associated;
  form.size = form.chunk = {256, 256};
  MadePicture all = made_packed(form, Samples::flat, {}, 1);
  all.packed.bytes.clear();
  for (int alpha = 0; alpha < 256; ++alpha) {
    for (int colour = 0; colour < 256; ++colour) {
      const int straight = alpha == 0 ? colour : (2 * 255 * colour + alpha) / (2 * alpha);
      all.packed.bytes.push_back(static_cast<std::byte>(colour));
      all.packed.bytes.push_back(static_cast<std::byte>(alpha));
      all.expected[0].row_as<std::uint8_t>(alpha)[colour] =
          static_cast<std::uint8_t>(std::min(straight, 255));
      all.expected[1].row_as<std::uint8_t>(alpha)[colour] = static_cast<std::uint8_t>(alpha);
    }
  }
  all.packed.bytes = zlib_stream(all.packed.bytes, {});
  all.packed.chunks = {{0, static_cast<std::int64_t>(all.packed.bytes.size()), false}};
  expect_equal({all});
  form = tiff_strips();
  form.channels = 4;
  form.channel_of = {0, 3, 1, 2};
  form.alpha = Alpha::associated;
  expect_equal({made_packed(form, Samples::noise, {}, 1), made_packed(form, Samples::flat, {}, 2)});
}

MadePicture floats_with_alpha(unsigned seed, float hidden) {
  PackedForm form = exr_blocks();
  form.packing = Packing::none;
  form.filter = Filter::none;
  form.sample = Sample::floating;
  form.bits = 32;
  form.channels = 2;
  form.channel_of = {1, 0};
  form.alpha = Alpha::associated;
  form.size = form.chunk = {200, 3};
  MadePicture made = made_packed(form, Samples::flat, {}, seed);
  std::mt19937 random(seed);
  std::vector<float> samples;
  for (int y = 0; y < 3; ++y) {
    for (const bool is_colour : {false, true}) {
      for (int x = 0; x < 200; ++x) {
        const float v =
            std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 200) - 150);
        samples.push_back(x % 7 != 0 ? v : is_colour ? hidden : x % 2 == 0 ? 0.0F : -0.0F);
        made.expected[is_colour ? 0 : 1].row_as<float>(y)[x] = samples.back();
      }
    }
    float* colours = made.expected[0].row_as<float>(y);
    const float* alphas = made.expected[1].row_as<float>(y);
    for (int x = 0; x < 200; ++x) colours[x] = x % 7 != 0 ? colours[x] / alphas[x] : colours[x];
  }
  const auto bytes = std::as_bytes(std::span(samples));
  made.packed.bytes.assign(bytes.begin(), bytes.end());
  made.packed.chunks = {{0, static_cast<std::int64_t>(bytes.size()), false}};
  return made;
}

// Quotients below the least normal number among them.
TEST_F(Unpack, SaysWhichPicturesGlow) {
  const MadePicture dark = floats_with_alpha(1, 0), bright = floats_with_alpha(2, 1e-42F),
                    negative = floats_with_alpha(3, -0.0F);
  expect_equal({dark, bright, negative});
  for (auto& unpacker : unpackers()) {
    const auto made = unpacker->decode({&dark.packed, &bright.packed, &negative.packed});
    EXPECT_EQ(made.glows, (std::vector<double>{0, 1, 0}));
  }
}

TEST_F(Unpack, HasTheColoursOfPalettes) {
  unsigned seed = 4000;
  for (const bool is_png : {true, false}) {
    for (const int bits : {1, 2, 4, 8}) {
      for (const Alpha alpha : {Alpha::none, Alpha::straight}) {
        PackedForm form = is_png ? png_rows() : strips_of_bytes();
        form.bits = bits;
        form.palette = true;
        form.alpha = alpha;
        form.channels = alpha == Alpha::none ? 3 : 4;
        for (const Size size : {Size{1, 1}, {67, 70}}) {
          form.size = form.chunk = size;
          expect_equal({made_packed(form, Samples::natural, {}, seed),
                        made_packed(form, Samples::noise, {}, seed + 1)});
          seed += 2;
        }
      }
    }
  }
}

// A filter that PNG does not have is no fault of the stream.
TEST_F(Unpack, LeavesOtherFiltersToTheHost) {
  const PackedForm form = png_rows();
  std::vector<std::byte> bytes(static_cast<std::size_t>(form.chunk_bytes()), std::byte{1});
  bytes[44 * 62] = std::byte{5};
  MadePicture damaged = made_packed(form, Samples::natural, {}, 1);
  damaged.packed.bytes = zlib_stream(bytes, {});
  damaged.packed.chunks = {{0, static_cast<std::int64_t>(damaged.packed.bytes.size()), false}};
  const MadePicture whole = made_packed(form, Samples::natural, {}, 2);
  for (auto& unpacker : unpackers()) {
    const Unpacker::Result made = unpacker->decode({&damaged.packed, &whole.packed});
    EXPECT_NE(made.faults[0], 0);
    EXPECT_EQ(made.faults[1], 0);
    EXPECT_EQ(difference(made.images[1], whole.expected), "");
  }
}

PackedForm long_rows() {
  PackedForm form = png_rows();
  form.size = form.chunk = {1021, 770};
  return form;
}

// Streams of many blocks, which are found; and of stored or fixed blocks, which are not.
TEST_F(Unpack, HasThePixelsOfLongStreams) {
  const PackedForm form = long_rows();
  ASSERT_GT(form.chunk_bytes(), least_stream_bytes);
  unsigned seed = 2000;
  std::vector<MadePicture> pictures;
  for (const Packer& packer : packers) {
    const Samples samples[] = {Samples::natural, Samples::drawn, Samples::noise, Samples::flat};
    pictures.push_back(made_packed(form, samples[seed % 4], packer, seed));
    pictures.push_back(made_packed(form, Samples::natural, packer, seed + 100));
    ++seed;
  }
  expect_equal(pictures);
  expect_equal({pictures[1]});
}

// Chunks that are long, of which the last is not, in several pictures.
TEST_F(Unpack, HasThePixelsOfLongStrips) {
  PackedForm form = tiff_strips();
  form.channels = 1;
  form.channel_of = {0};
  form.size = {1200, 700};
  form.chunk = {1200, 300};
  ASSERT_GT(form.chunk_bytes(), least_stream_bytes);
  std::vector<MadePicture> pictures;
  for (const Samples samples : {Samples::natural, Samples::drawn, Samples::natural}) {
    pictures.push_back(made_packed(form, samples, {}, static_cast<unsigned>(pictures.size())));
  }
  // Another Adler-32 of the second picture.
  MadePicture damaged = pictures[0];
  const PackedPicture::Chunk& last = damaged.packed.chunks[1];
  damaged.packed.bytes[static_cast<std::size_t>(last.begin + last.bytes - 1)] ^= std::byte{1};
  expect_equal(pictures);
  for (auto& unpacker : unpackers()) {
    const Unpacker::Result made = unpacker->decode({&pictures[1].packed, &damaged.packed});
    EXPECT_EQ(made.faults[0], 0);
    EXPECT_NE(made.faults[1], 0);
  }
}

// Of long streams too, pixels come from the device only where zlib has the same bytes: of a stream
// of filter bytes that are all 0.
TEST_F(Unpack, LeavesDamagedLongStreamsToTheHost) {
  const char* more = std::getenv("IMPIPE_UNPACK_DAMAGED");
  const int count = more != nullptr ? std::atoi(more) : 24;
  const PackedForm form = long_rows();
  std::mt19937 random(11);
  std::vector<MadePicture> pictures;
  MadePicture base = made_packed(form, Samples::natural, {}, 5);
  std::vector<std::byte> rows;
  for (std::int64_t y = 0; y < form.size.height; ++y) {
    rows.push_back(std::byte{0});
    rows.insert(rows.end(), base.expected[0].row(y), base.expected[0].row(y) + form.size.width);
  }
  const std::vector<std::byte> stream = zlib_stream(rows, {});
  for (int i = 0; i < count; ++i) {
    MadePicture one = base;
    std::vector<std::byte>& bytes = one.packed.bytes = stream;
    for (int k = i % 4; k > 0; --k) {
      bytes[random() % (i % 3 == 0 ? 300 : bytes.size())] ^=
          static_cast<std::byte>(1U << random() % 8);
    }
    if (i % 8 == 4) bytes.resize(random() % bytes.size());
    one.packed.chunks = {{0, static_cast<std::int64_t>(bytes.size()), false}};
    pictures.push_back(std::move(one));
  }
  std::vector<const PackedPicture*> packed;
  for (const MadePicture& one : pictures) packed.push_back(&one.packed);
  for (auto& unpacker : unpackers()) {
    const Unpacker::Result made = unpacker->decode(packed);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const bool is_right = !inflated(packed[i]->bytes, rows.size()).empty();
      EXPECT_EQ(made.faults[i] == 0, is_right) << i;
      if (is_right && made.faults[i] == 0) {
        EXPECT_EQ(difference(made.images[i], base.expected), "") << i;
      }
    }
  }
}

// Steps with more copies than their list has room for, and copies of every length and distance.
TEST_F(Unpack, HasThePixelsWhereCopiesAreMany) {
  PackedForm form = strips_of_bytes();
  form.size = {1000, 300};
  form.chunk = form.size;
  const MadePicture base = made_packed(form, Samples::noise, {}, 1);
  for (const int kind : {0, 1, 2}) {
    std::mt19937 random(static_cast<unsigned>(kind));
    std::vector<std::byte> bytes;
    while (bytes.size() < 300000) {
      if (bytes.size() < 5 || random() % 16 == 0) {
        bytes.push_back(static_cast<std::byte>(random() % 4));
        continue;
      }
      const std::size_t farthest =
          std::min<std::size_t>(bytes.size(), kind == 0   ? 32768
                                              : kind == 1 ? 12
                                                          : 1 + random() % 32768);
      const std::size_t distance = 1 + random() % farthest;
      const std::size_t count = kind == 0 ? 3 + random() % 2 : 3 + random() % 300;
      for (std::size_t i = 0; i < count; ++i) bytes.push_back(bytes[bytes.size() - distance]);
    }
    bytes.resize(300000);
    MadePicture one = base;
    one.packed.bytes = zlib_stream(bytes, {Library::libdeflate, 9, 0});
    one.packed.chunks = {{0, static_cast<std::int64_t>(one.packed.bytes.size()), false}};
    one.expected = new_planes(form.cls, 1, form.size);
    for (std::int64_t y = 0; y < form.size.height; ++y) {
      std::memcpy(one.expected[0].row(y), bytes.data() + y * form.size.width,
                  static_cast<std::size_t>(form.size.width));
    }
    expect_equal({one});
  }
}

// Of a damaged stream, pixels come from the device only where zlib has the same ones.
TEST_F(Unpack, LeavesDamagedStreamsToTheHost) {
  const char* more = std::getenv("IMPIPE_UNPACK_DAMAGED");
  const int rounds = more != nullptr ? std::atoi(more) : 6;
  std::mt19937 random(7);
  int decoded = 0, left = 0;
  PackedForm form = strips_of_bytes();
  form.size = {97, 60};
  form.chunk = form.size;
  for (int round = 0; round < rounds; ++round) {
    std::vector<MadePicture> pictures;
    for (const Packer& packer : packers) {
      for (const Samples samples : {Samples::noise, Samples::natural, Samples::drawn}) {
        MadePicture one = made_packed(form, samples, packer, static_cast<unsigned>(random()));
        std::vector<std::byte>& bytes = one.packed.bytes;
        const std::size_t flips = random() % 4;
        for (std::size_t k = 0; k < flips; ++k) {
          const std::size_t upto =
              random() % 2 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 100);
          bytes[random() % upto] ^= static_cast<std::byte>(1U << random() % 8);
        }
        if (flips == 0 && random() % 2 == 0) bytes.resize(random() % bytes.size());
        one.packed.chunks[0].bytes = static_cast<std::int64_t>(bytes.size());
        pictures.push_back(std::move(one));
      }
    }
    std::vector<const PackedPicture*> packed;
    for (const MadePicture& one : pictures) packed.push_back(&one.packed);
    for (auto& unpacker : unpackers()) {
      const Unpacker::Result made = unpacker->decode(packed);
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        const auto count = static_cast<std::size_t>(form.size.pixels());
        const std::vector<std::byte> expected = inflated(pictures[i].packed.bytes, count);
        EXPECT_EQ(made.faults[i] == 0, !expected.empty()) << round << ": " << i;
        ++(made.faults[i] == 0 ? decoded : left);
        if (made.faults[i] != 0 || expected.empty()) continue;
        for (std::int64_t y = 0; y < form.size.height; ++y) {
          EXPECT_EQ(std::memcmp(made.images[i][0].row(y), expected.data() + y * form.size.width,
                                static_cast<std::size_t>(form.size.width)),
                    0)
              << round << ": " << i << " row " << y;
        }
      }
    }
  }
  EXPECT_GT(decoded, rounds);
  EXPECT_GT(left, rounds);
}

// Streams that are right for themselves, but not of the length that the form says.
TEST_F(Unpack, LeavesOtherLengthsToTheHost) {
  const PackedForm form = strips_of_bytes();
  std::vector<MadePicture> pictures;
  for (int i = 0; i < 7; ++i) pictures.push_back(made_packed(form, Samples::natural, {}, 1));
  const auto set = [&](std::size_t which, const std::vector<std::byte>& bytes) {
    PackedPicture& packed = pictures[which].packed;
    packed.chunks[1] = {static_cast<std::int64_t>(packed.bytes.size()),
                        static_cast<std::int64_t>(bytes.size()), false};
    packed.bytes.insert(packed.bytes.end(), bytes.begin(), bytes.end());
  };
  const auto whole = static_cast<std::size_t>(form.chunk_bytes());
  set(1, zlib_stream(std::vector<std::byte>(whole - 1), {}));
  set(2, zlib_stream(std::vector<std::byte>(whole + 1), {}));
  set(3, zlib_stream(std::vector<std::byte>(10 * whole), {}));
  set(4, {});
  pictures[5].packed.chunks[0].begin = 1 << 30;
  pictures[6].packed.chunks.pop_back();
  std::vector<const PackedPicture*> packed;
  for (const MadePicture& one : pictures) packed.push_back(&one.packed);
  for (auto& unpacker : unpackers()) {
    const Unpacker::Result made = unpacker->decode(packed);
    for (std::size_t i = 0; i < pictures.size(); ++i) EXPECT_EQ(made.faults[i] == 0, i == 0) << i;
    EXPECT_EQ(difference(made.images[0], pictures[0].expected), "");
  }
}

}  // namespace
}  // namespace impipe::testing
