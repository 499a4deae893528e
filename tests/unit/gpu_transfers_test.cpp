// What a GPU's transfers bring back, with and without a copy on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cuda/device.hpp"
#include "backends/opencl/device.hpp"
#include "core/one_nan.hpp"
#include "engine/device/session.hpp"
#include "engine/program/picture_parts.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"
#include "support/backend_compare.hpp"

namespace impipe::testing {
namespace {

constexpr Backend backends_of_gpus[] = {{"opencl", opencl::devices, opencl::open},
                                        {"cuda", cuda::devices, cuda::open}};

class GpuTransfers : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    device_ = device_of(GetParam(), pool_);
    if (device_ == nullptr) GTEST_SKIP() << "no device of " << GetParam().name;
  }

  ThreadPool pool_{0};
  std::shared_ptr<Device> device_;
};

// Numbers that differ from row to row and from channel to channel.
Planes numbered(PixelClass cls, int channels, Size size) {
  Planes image = new_planes(cls, channels, size);
  unsigned state = 1;
  for (Plane& plane : image) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < plane.row_bytes(); ++x) {
        state = state * 1664525u + 1013904223u;
        plane.row(y)[x] = static_cast<std::byte>(state >> 24);
      }
    }
  }
  return image;
}

bool are_equal(const Planes& a, const Planes& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t c = 0; c < a.size(); ++c) {
    for (std::int64_t y = 0; y < a[c].size().height; ++y) {
      if (std::memcmp(a[c].row(y), b[c].row(y), static_cast<std::size_t>(a[c].row_bytes())) != 0) {
        return false;
      }
    }
  }
  return true;
}

TEST_P(GpuTransfers, BringBackWhatWasSent) {
  Planes last;
  {
    const auto queue = device_->make_queue();
    for (const Size size :
         {Size{1, 1}, Size{127, 3}, Size{129, 1}, Size{1031, 797}, Size{5001, 2003}}) {
      for (const int channels : {1, 3}) {
        const Planes image = numbered(PixelClass::uint16, channels, size);
        for (int times = 0; times < 4; ++times) {
          last = queue->download(*queue->upload(image));
          ASSERT_TRUE(are_equal(last, image)) << to_string(size) << " x" << channels;
        }
      }
    }
    const Planes one = numbered(PixelClass::uint8, 1, {1501, 1001}),
                 other = numbered(PixelClass::uint8, 1, {1501, 1001});
    const std::vector<Planes> both{one, other};
    const std::vector<Planes> back = queue->download_stack(*queue->upload_stack(both));
    EXPECT_TRUE(are_equal(back.at(0), one) && are_equal(back.at(1), other));
  }
  // Its memory was the device's to read and to write.
  device_.reset();
  EXPECT_TRUE(are_equal(last, numbered(PixelClass::uint16, 3, {5001, 2003})));
}

TEST_P(GpuTransfers, PartsOfStacksAreTheirImages) {
  const auto queue = device_->make_queue();
  const Size size{256, 16};  // planes of whole pages, which all devices have parts of
  ASSERT_TRUE(queue->has_parts(PixelClass::uint8, 1, size));
  std::vector<Planes> images;
  for (int i = 0; i < 5; ++i) {
    Planes& image = images.emplace_back(numbered(PixelClass::uint16, 2, size));
    image.front().row(0)[0] = static_cast<std::byte>(i);
  }
  auto stack = queue->upload_stack(images);
  const auto part = queue->part(stack, 1, 3);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->part().stack, stack);
  EXPECT_EQ(part->part().first, 1);
  stack.reset();  // its memory stays
  const std::vector<Planes> back = queue->download_stack(*part);
  ASSERT_EQ(back.size(), 3u);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_TRUE(are_equal(back[i], images[i + 1])) << i;
}

TEST_P(GpuTransfers, BringBackRows) {
  const auto queue = device_->make_queue();
  const Planes image = numbered(PixelClass::single, 3, {1203, 901});
  ASSERT_TRUE(queue->reaches(image));
  const auto whole = queue->upload(image);
  const auto there = queue->upload_rows(queue->download(*whole), 0, 901);
  Planes back = new_planes(PixelClass::single, 3, {1203, 901});
  ASSERT_TRUE(queue->reaches(back));
  for (std::int64_t y = 0; y < 901; y += 400) {
    const std::int64_t end = std::min<std::int64_t>(901, y + 400);
    queue->download_rows(*there, y, back, y, end);
  }
  queue->wait();
  EXPECT_TRUE(are_equal(back, image));
}

TEST_P(GpuTransfers, MakeOneNan) {
  const auto queue = device_->make_queue();
  const std::uint32_t patterns[] = {0x7fc00000, 0xffc00000, 0x7fffffff, 0x7f800001, 0xff800001,
                                    0x7f800000, 0xff800000, 0,          0x80000000, 0x3f800000};
  std::vector<Planes> images;
  for (const std::size_t shift : {0, 3}) {
    images.push_back(new_planes(PixelClass::single, 3, {37, 11}));
    for (Plane& plane : images.back()) {
      for (std::int64_t y = 0; y < 11; ++y) {
        for (std::int64_t x = 0; x < 37; ++x) {
          plane.row_as<std::uint32_t>(y)[x] =
              patterns[(static_cast<std::size_t>(x + 3 * y) + shift) % std::size(patterns)];
        }
      }
    }
  }
  const auto kernel = device_->prepare_one_nan();
  const DeviceValue there{queue->upload_stack(images), nullptr};
  queue->run(*kernel, {.spec = nullptr, .inputs = {}, .outputs = {there}});
  const std::vector<Planes> made = queue->download_stack(*there.plane);
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (Plane& plane : images[i]) make_one_nan(plane);
    EXPECT_TRUE(are_equal(made[i], images[i]));
  }
}

// As many bands as there may be, beside the CPU, which has none.
TEST_P(GpuTransfers, PicturesInPartsHaveTheBitsOfWholeOnes) {
  const std::shared_ptr<const Kernel> one_nan = device_->prepare_one_nan();
  const ImageType types[] = {{PixelClass::uint8, 3, false, 255}, {PixelClass::single, 1, false, 1}};
  for (const char* text : {"imgaussfilt 2", "medfilt2 5 | imcomplement", "conv2 k7"}) {
    for (const ImageType& type : types) {
      HostImage image(type, {2111, 4203});
      image.planes = numbered(type.cls, type.channels, image.size());
      std::vector<Planes> made;
      for (const bool on_cpu : {true, false}) {
        const pipeline::Pipeline bound = pipeline::bind(pipeline::parse(text));
        engine::OpenDevice open = engine::open_device({.backend = "cpu", .device = {}}, pool_);
        if (!on_cpu) open.device = device_;
        engine::Session session(bound, std::move(open), {});
        const auto program = session.program(type, {});
        session.wait_for_kernels();
        const auto queue = session.make_queue();
        engine::ExecuteOptions how{.timed = true};
        if (!on_cpu) how.one_nan = one_nan;
        engine::Outcome outcome =
            engine::execute_in_parts(*program, {.image = image, .operands = {}}, *queue, how);
        made.push_back(std::move(outcome.image.planes));
        double up = 0, down = 0, copied = 0;
        int kernels = 0;
        for (const Activity& a : outcome.activity) {
          (a.kind == Activity::Kind::upload ? up : down) += a.bytes;
          copied += a.copied;
          kernels += a.kind == Activity::Kind::kernel && a.tag == 0;
        }
        if (on_cpu) continue;
        EXPECT_GT(kernels, 1) << "it was computed as a whole";
        EXPECT_EQ(copied, 0);
        const double samples = static_cast<double>(image.size().pixels() * type.channels);
        const double bytes = samples * bytes_of(type.cls);
        // Rows that are as far apart on both sides come down with what lies between them.
        const double result = samples * bytes_of(made.back().front().cls());
        EXPECT_GE(down, result);
        EXPECT_LT(down, 1.05 * result);
        EXPECT_GT(up, bytes);  // with the rows that two bands read
        EXPECT_LT(up, 1.05 * bytes);
      }
      EXPECT_TRUE(are_equal(made.at(0), made.at(1))) << text << ", " << to_string(type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, GpuTransfers, ::testing::ValuesIn(backends_of_gpus),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace impipe::testing
