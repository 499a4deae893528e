// Sizes, messages, lifetimes and results of programs, run on the CPU.
#include "backends/registry.hpp"
#include "engine/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <numeric>

#include "core/error.hpp"
#include "engine/device/session.hpp"
#include "engine/program/executor.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::engine {
namespace {

pipeline::Pipeline bound(const char* text) { return pipeline::bind(pipeline::parse(text)); }

HostImage image_of(Size size, std::vector<int> values) {
  HostImage image(ImageType{}, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      image.planes.front().row_as<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(values[static_cast<size_t>(y * size.width + x)]);
    }
  }
  return image;
}

HostImage flat(Size size, int value) {
  return image_of(size, std::vector<int>(static_cast<size_t>(size.pixels()), value));
}

std::vector<int> codes(const Plane& plane) {
  std::vector<int> out;
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      out.push_back(plane.row_as<std::uint8_t>(y)[x]);
    }
  }
  return out;
}

class Programs : public testing::Test {
 protected:
  Outcome run(const char* text, Material material, SessionOptions options = {},
              ExecuteOptions execution = {}) {
    Session session(bound(text), open_device({}, pool_), options);
    std::map<std::string, ImageType> types;
    for (const auto& [name, image] : material.operands) types[name] = image.type;
    program_ = session.program(material.image.type, types);
    const auto queue = session.make_queue();
    return execute(*program_, std::move(material), *queue, execution);
  }

  std::string message(const char* text, Material material) {
    try {
      run(text, std::move(material));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file_failed);
      return error.what();
    }
    return "no error";
  }

  ThreadPool pool_{1};
  std::shared_ptr<const Program> program_;
};

TEST_F(Programs, RunAChain) {
  const Outcome outcome = run("imcomplement | fliplr", {image_of({3, 1}, {10, 20, 30}), {}});
  EXPECT_EQ(codes(outcome.image.planes.front()), (std::vector<int>{225, 235, 245}));
}

// Not the sum over threads: what a device says that it computed passes on the host's clock as well.
TEST_F(Programs, ADeviceComputesNoLongerThanTheHostWaits) {
  using Clock = std::chrono::steady_clock;
  Session session(bound("imadjust | conv2 k7 | edge prewitt"), open_device({}, pool_), {});
  const HostImage image = flat({512, 512}, 100);
  const auto program = session.program(image.type, {});
  const auto queue = session.make_queue();
  const auto seconds_of = [&](const auto& work) {
    const auto begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  Outcome outcome;
  const auto run_once = [&](bool timed) {
    outcome = execute(*program, {.image = image, .operands = {}}, *queue, {.timed = timed});
  };
  std::vector<double> times;
  const double all = seconds_of([&] { times = queue->time_of([&] { run_once(false); }, 5); });
  ASSERT_EQ(times.size(), 5u);
  EXPECT_GT(*std::min_element(times.begin(), times.end()), 0);
  EXPECT_LE(std::accumulate(times.begin(), times.end(), 0.0), all);

  const double timed = seconds_of([&] { run_once(true); });
  double sum = 0;
  for (const Activity& activity : outcome.activity) sum += activity.end - activity.begin;
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, timed);
}

TEST_F(Programs, UnequalOperandsAreNamed) {
  EXPECT_EQ(message("imlincomb 0.5 0.5 :a", {flat({6, 4}, 1), {{"a", flat({3, 2}, 1)}}}),
            "imlincomb: the current image is 6x4, :a is 3x2");
  EXPECT_EQ(message("as a | conv2 [1 2; 3 4] full | imlincomb 1 1 :a", {flat({6, 4}, 1), {}}),
            "imlincomb: the current image is 7x5, :a is 6x4");
  EXPECT_EQ(message("as a | transpose | imlincomb 1 1 :a", {flat({6, 4}, 1), {}}),
            "imlincomb: the current image is 4x6, :a is 6x4");
  // The mask is made from a logical image.
  HostImage mask({.cls = PixelClass::logical, .channels = 1, .white = 1}, {3, 2});
  EXPECT_EQ(message("imreconstruct :a", {flat({6, 4}, 1), {{"a", mask}}}),
            "imreconstruct: the current image is 6x4, :a is 3x2");
}

TEST_F(Programs, AnEmptyResultIsAnError) {
  EXPECT_EQ(message("conv2 [1 1 1; 1 1 1; 1 1 1] valid", {flat({2, 5}, 1), {}}),
            "conv2: the image is only 2x5, so that nothing is left of it");
}

TEST_F(Programs, MeasurementsAreColumnsAndTheLastIsKept) {
  const Outcome outcome = run("mean2 | max", {image_of({2, 2}, {1, 2, 3, 10}), {}});
  EXPECT_EQ(outcome.columns, (std::vector<double>{4, 10}));
  EXPECT_TRUE(outcome.image.empty());
  EXPECT_EQ(outcome.measurements.back().numbers, (std::vector<double>{10}));
}

// The mean divides by the pixels of the image that was measured, not of the one that came in.
TEST_F(Programs, SizesOfAScalarAreThoseOfTheMeasuredImage) {
  const Outcome outcome = run("conv2 [1 1 1; 1 1 1; 1 1 1] valid | mean2", {flat({5, 4}, 2), {}});
  EXPECT_EQ(outcome.columns, (std::vector<double>{18}));
}

TEST_F(Programs, AlphaGoesAlong) {
  ImageType type;
  type.alpha = true;
  HostImage image(type, {2, 1});
  const std::uint8_t pixels[] = {10, 20}, alphas[] = {1, 2};
  std::memcpy(image.planes.front().row(0), pixels, 2);
  std::memcpy(image.alpha.row(0), alphas, 2);
  const Outcome turned = run("imcomplement | transpose | flipud", {image, {}});
  EXPECT_EQ(codes(turned.image.planes.front()), (std::vector<int>{235, 245}));
  EXPECT_EQ(codes(turned.image.alpha), (std::vector<int>{2, 1}));
  EXPECT_EQ(turned.image.alpha.size(), (Size{1, 2}));
  const Outcome padded = run("conv2 [0 0 1] full", {image, {}});
  EXPECT_EQ(codes(padded.image.alpha), (std::vector<int>{0, 0, 1, 2}));  // with the pixels
  EXPECT_TRUE(run("im2bw 0.5", {image, {}}).image.alpha.empty());
}

TEST_F(Programs, SavesAreIntermediates) {
  const Outcome outcome =
      run("imcomplement | save 'x.png' | fliplr", {image_of({2, 1}, {10, 20}), {}});
  ASSERT_EQ(outcome.saves.size(), 1u);
  EXPECT_EQ(codes(outcome.saves[0].planes.front()), (std::vector<int>{245, 235}));
  EXPECT_EQ(codes(outcome.image.planes.front()), (std::vector<int>{235, 245}));
}

TEST_F(Programs, ValuesAreLetGoAfterTheirLastReader) {
  run("as a | transpose | transpose | imlincomb 1 1 :a", {flat({2, 2}, 1), {}}, {.fuse = false});
  ASSERT_EQ(program_->dead_after.size(), 3u);
  EXPECT_EQ(program_->dead_after[0], (std::vector<ValueId>{}));  // the input is read as :a
  EXPECT_EQ(program_->dead_after[1], (std::vector<ValueId>{1}));
  EXPECT_EQ(program_->dead_after[2], (std::vector<ValueId>{2, 0}));
  EXPECT_EQ(program_->bytes_per_pixel, 3);
}

// A thin image has padding on devices, and a step may make a larger image than it reads.
TEST_F(Programs, BytesOfImagesCountPaddingAndSizes) {
  run("imdilate square,3 | imresize 10 nearest", {flat({2, 2}, 1), {}});
  const auto bytes_for = [&](Size input, std::int64_t row_alignment) {
    return image_bytes(*program_, sizes_of(*program_, input, {}), row_alignment);
  };
  ImageBytes bytes = bytes_for({1, 1000}, 0);
  EXPECT_EQ(bytes.input, 1000);
  EXPECT_EQ(bytes.result, 10 * 10000);
  EXPECT_EQ(bytes.on_device, 1000 + 10 * 10000);
  bytes = bytes_for({1, 1000}, 128);
  EXPECT_EQ(bytes.on_device, 128 * 1000 + 128 * 10000);
  bytes = bytes_for({1000, 1}, 128);
  EXPECT_EQ(bytes.input, 1024 + 64);  // no power of two
  EXPECT_EQ(bytes.on_device, 1024 + 10112 * 10);
}

TEST_F(Programs, AStopEndsTheWorkBetweenSteps) {
  EXPECT_THROW(run("mean2", {flat({2, 2}, 1), {}}, {}, {.stop = [] { return true; }}), Error);
}

TEST_F(Programs, TimesAreOneAStep) {
  const Outcome outcome =
      run("imcomplement | mean2", {flat({64, 64}, 1), {}}, {.fuse = false}, {.timed = true});
  EXPECT_EQ(outcome.step_launches.size(), program_->plan.steps.size());
  EXPECT_EQ(outcome.step_bytes[0], 2 * 64 * 64);
}

TEST(Devices, UnknownOnesAreExitFour) {
  ThreadPool pool(0);
  const auto message = [&](DeviceChoice choice) {
    try {
      open_device(choice, pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::backend);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::string names = "auto";
  for (const Backend& backend : backends::registry()) names += ", " + std::string(backend.name);
  EXPECT_EQ(message({.backend = "cppu"}),
            "--backend: there is no backend 'cppu' in this build, "
            "which has " +
                names + "; did you mean 'cpu'?");
  EXPECT_EQ(message({.device = "cpu:7"}), "--device: there is no device 'cpu:7'; cpu has cpu");
  EXPECT_EQ(open_device({.device = "cpu"}, pool).why, "--device cpu");
}

TEST(SessionPrograms, AreMadeOnceATypeAndKernelsOnceAKey) {
  ThreadPool pool(0);
  Session session(bound("imadjust 0.1 0.9"), open_device({}, pool), {});
  const ImageType gray;
  ImageType deep = gray;
  deep.cls = PixelClass::uint16;
  deep.white = 65535;
  EXPECT_EQ(session.program(gray, {}), session.program(gray, {}));
  EXPECT_NE(session.program(gray, {}), session.program(deep, {}));
  const KernelSpec& spec = session.program(gray, {})->plan.steps[0].kernel;
  EXPECT_EQ(session.kernel(spec), session.program(gray, {})->kernels[0].get());
}

// A GPU whose compiler waits for a gate to open, and then fails in the way that is given.
class GatedDevice : public Device {
 public:
  enum class Failure { none, compiler, memory };
  GatedDevice(std::shared_ptr<Device> good, std::shared_future<void> gate, Failure failure)
      : good_(std::move(good)), gate_(std::move(gate)), failure_(failure), info_(good_->info()) {
    info_.id = "gated:0";
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Kernel> prepare(const KernelSpec& spec) override {
    gate_.wait();
    if (failure_ == Failure::compiler) throw Error("it does not compile", ExitCode::backend);
    if (failure_ == Failure::memory) throw OutOfDeviceMemory("no memory for it");
    return good_->prepare(spec);
  }
  std::unique_ptr<Kernel> prepare_baseline(Baseline baseline) override {
    return good_->prepare_baseline(baseline);
  }
  std::unique_ptr<Queue> make_queue() override { return good_->make_queue(); }

 private:
  std::shared_ptr<Device> good_;
  std::shared_future<void> gate_;
  Failure failure_;
  DeviceInfo info_;
};

class PendingKernels : public testing::TestWithParam<GatedDevice::Failure> {
 protected:
  OpenDevice gated() {
    OpenDevice open = open_device({}, pool_);
    open.device = std::make_unique<GatedDevice>(std::move(open.device), gate_.get_future().share(),
                                                GetParam());
    return open;
  }
  ThreadPool pool_{0};
  std::promise<void> gate_;
};

TEST_P(PendingKernels, AreCompiledWhileTheProgramIsThere) {
  Session session(bound("imadjust 0.1 0.9"), gated(), {});
  const auto program = session.program(ImageType{}, {});
  const PendingKernel& kernel = program->kernels[0];
  EXPECT_EQ(kernel.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  session.check_kernels();
  gate_.set_value();
  switch (GetParam()) {
    case GatedDevice::Failure::none:
      session.wait_for_kernels();
      EXPECT_NE(kernel.get(), nullptr);
      break;
    case GatedDevice::Failure::compiler:
      EXPECT_THROW(session.wait_for_kernels(), Error);
      EXPECT_THROW(kernel.get(), Error);
      break;
    case GatedDevice::Failure::memory:
      session.wait_for_kernels();
      EXPECT_THROW(kernel.get(), OutOfDeviceMemory);
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PendingKernels,
                         testing::Values(GatedDevice::Failure::none, GatedDevice::Failure::compiler,
                                         GatedDevice::Failure::memory));

}  // namespace
}  // namespace impipe::engine
