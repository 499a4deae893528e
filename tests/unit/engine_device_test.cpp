// Which device auto takes, and whether devices compute as the CPU does.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "backends/registry.hpp"
#include "core/volume_ring.hpp"
#include "engine/device/lanes.hpp"
#include "engine/device/parity.hpp"
#include "engine/device/session.hpp"
#include "engine/file_cost.hpp"
#include "engine/program/work_cost.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/fresh_process.hpp"

namespace impipe::engine {
namespace {

Plan plan_of(const char* text) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(text));
  return pipeline::fuse(pipeline::lower(pipeline, ImageType{}));
}

TEST(WorkCosts, AreSumsOverStepsAndImages) {
  const Plan plan = plan_of("imgaussfilt 2");
  WorkCost one, three;
  one.add(plan, 1e6, 1);
  three.add(plan, 3e6, 3);
  EXPECT_DOUBLE_EQ(three.units, 3 * one.units);
  EXPECT_EQ(one.transfer_bytes, 2e6);  // a byte in and a byte out for each pixel
  EXPECT_EQ(three.launches, 3);
  EXPECT_EQ(three.kernels, 1);  // made once
  const CostModel model;
  EXPECT_DOUBLE_EQ(three.cpu_seconds(model, 1), 4 * three.cpu_seconds(model, 4));
  // Nothing to do still costs the start.
  EXPECT_EQ(WorkCost().gpu_seconds(model, 4), model.gpu_start);
}

TEST(WorkCosts, AVolumesKernelsCountForEachPlane) {
  const auto cost_of = [](const char* text, double planes) {
    const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(text));
    const auto part = pipeline::lower_parts(pipeline, ImageType{}).front();
    WorkCost cost;
    for (const PlaneRing& ring : part.reduction->volume->rings({}, {1000, 1000}, 8)) {
      cost.add(ring, ImageType{}, 1e6 * planes, planes);
    }
    return cost;
  };
  const WorkCost one = cost_of("imgaussfilt3 1", 1), many = cost_of("imgaussfilt3 1", 8);
  EXPECT_DOUBLE_EQ(many.units, 8 * one.units);
  EXPECT_EQ(many.transfer_bytes, 16e6);  // each plane goes up once, and one comes down
  EXPECT_EQ(many.kernels, 2);
  EXPECT_EQ(many.launches, 16);
  // What the CPU takes for 64 planes of 512x512 (decision 0089), files left out.
  const CostModel model;
  const auto seconds = [&](const char* text) {
    return cost_of(text, 64 * 0.262).cpu_seconds(model, 2);
  };
  EXPECT_NEAR(seconds("imgaussfilt3 1"), 0.05, 0.04);
  EXPECT_NEAR(seconds("medfilt3 3"), 0.04, 0.03);
}

TEST(WorkCosts, AMeasurementBringsNoImageBack) {
  WorkCost cost;
  cost.add(plan_of("mean2"), 1e6, 1);
  EXPECT_EQ(cost.transfer_bytes, 1e6);
}

TEST(WorkCosts, FilesCostWhatTheirFormatsDo) {
  io::ImageInfo info;
  info.type = {.channels = 3};
  info.format = io::Format::png;
  WorkCost png, jpeg, on_host;
  add_files(png, {info, info.type, io::Format::png}, CodecPlace::automatic, 1e6, 1);
  EXPECT_LT(png.file_seconds_beside_gpu, png.file_seconds / 10);
  EXPECT_EQ(png.packed_bytes, 6e6);
  EXPECT_EQ(png.transfer_bytes, -6e6);
  info.type.alpha = true;  // which the host decodes, and encodes
  png = {};
  add_files(png, {info, info.type, io::Format::png}, CodecPlace::automatic, 1e6, 1);
  EXPECT_DOUBLE_EQ(png.file_seconds_beside_gpu, png.file_seconds);
  EXPECT_EQ(png.packed_bytes, 0);
  info.type.alpha = false;
  info.format = io::Format::jpeg;
  add_files(jpeg, {info, info.type, io::Format::jpeg}, CodecPlace::automatic, 1e6, 1);
  EXPECT_LT(jpeg.file_seconds_beside_gpu, jpeg.file_seconds / 10);
  EXPECT_EQ(jpeg.coded_pixels, 2e6);     // decoded and encoded
  EXPECT_EQ(jpeg.transfer_bytes, -6e6);  // pixels that add() counted stay where they are
  add_files(on_host, {info, info.type, io::Format::jpeg}, CodecPlace::cpu, 1e6, 1);
  EXPECT_DOUBLE_EQ(on_host.file_seconds_beside_gpu, jpeg.file_seconds);
  // Each file is one thread's.
  const CostModel model;
  EXPECT_DOUBLE_EQ(on_host.cpu_seconds(model, 16), on_host.file_seconds);
  add_files(on_host, {info, info.type, io::Format::jpeg}, CodecPlace::cpu, 15e6, 15);
  on_host.images = 16;
  EXPECT_DOUBLE_EQ(on_host.cpu_seconds(model, 100), on_host.file_seconds / 16);
  EXPECT_DOUBLE_EQ(on_host.cpu_seconds(model, 16), on_host.file_seconds / (model.crowd * 16));
  // Four that are left after a round of sixteen take as long as one.
  add_files(on_host, {info, info.type, io::Format::jpeg}, CodecPlace::cpu, 4e6, 4);
  on_host.images = 20;
  EXPECT_DOUBLE_EQ(on_host.cpu_seconds(model, 16),
                   on_host.file_seconds / 20 * (1 + 1 / model.crowd));
}

// What docs/benchmarks/h200/files.txt has: many small PNGs, and large files, are a GPU's; a few
// small PNGs are done before it is there.
TEST(WorkCosts, FoldersGoWhereTheyAreFaster) {
  const CostModel model;
  const auto on_gpu = [&](io::Format format, const ImageType& type, double pixels, double images) {
    io::ImageInfo info;
    info.type = type;
    info.format = format;
    WorkCost cost;
    cost.add(plan_of("imgaussfilt 2"), pixels * images, images);
    cost.images = images;
    add_files(cost, {info, type, format}, CodecPlace::automatic, pixels * images, images);
    return cost.gpu_seconds(model, 16) < cost.cpu_seconds(model, 16);
  };
  const ImageType gray, colour{.channels = 3}, words{.cls = PixelClass::uint16},
      floats{.cls = PixelClass::single, .channels = 3};
  EXPECT_TRUE(on_gpu(io::Format::png, gray, 65536, 16000));
  EXPECT_TRUE(on_gpu(io::Format::png, gray, 4e6, 1920));
  EXPECT_TRUE(on_gpu(io::Format::png, colour, 2e6, 1920));
  EXPECT_TRUE(on_gpu(io::Format::tiff, words, 4e6, 384));
  EXPECT_TRUE(on_gpu(io::Format::exr, floats, 2e6, 192));
  EXPECT_FALSE(on_gpu(io::Format::png, gray, 65536, 100));
}

// While a GPU is opened the CPU computes a tenth of many small JPEGs, which would take the GPU
// 0.03 s; of heavy work that it does half as fast as the GPU it does a part that is worth more.
TEST(WorkCosts, TheCpuLeavesToTheGpuWhatItWouldDoSoonAnyway) {
  const CostModel model;
  WorkCost many;
  many.images = 960;
  many.file_seconds = 960 * 0.02;
  many.file_seconds_beside_gpu = 960 * 0.001;
  many.coded_pixels = 960 * 4e6;
  EXPECT_GT(many.cpu_seconds(model, 16), 4 * many.gpu_seconds(model, 16));
  EXPECT_DOUBLE_EQ(seconds_to_wait_for_gpu(many, 16), 1.5 * model.gpu_start);
  many.kernels = 2;  // which take their time, too
  EXPECT_DOUBLE_EQ(seconds_to_wait_for_gpu(many, 16),
                   1.5 * (model.gpu_start + 2 * model.gpu_kernel));
  many.file_seconds_beside_gpu = many.file_seconds / 3;
  EXPECT_GT(many.cpu_seconds(model, 16), 1.25 * many.gpu_seconds(model, 16));
  EXPECT_EQ(seconds_to_wait_for_gpu(many, 16), 0);
}

TEST(LaterDevice, LeavesThreadsWithoutWorkWhileItIsOpened) {
  ThreadPool pool(0);
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse("imcomplement"));
  for (const double wait : {0.0, 1000.0}) {
    std::vector<OpenDevice> first;
    first.push_back(open_device({.backend = "cpu", .device = ""}, pool));
    Lanes lanes(pipeline, std::move(first), {});
    EXPECT_EQ(lanes.idle_threads(16), 0);
    std::promise<void> go;
    lanes.open_later(
        [&] {
          go.get_future().wait();
          return open_device({.backend = "cpu", .device = ""}, pool);
        },
        {}, {}, wait);
    EXPECT_EQ(lanes.idle_threads(16), wait > 0 ? 15 : 2);
    EXPECT_EQ(lanes.idle_threads(1), wait > 0 ? 0 : 1);
    go.set_value();
    for (int i = 0; i < 6000 && lanes.is_opening(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(lanes.idle_threads(16), 0);
  }
}

TEST(LaterDevice, HasTheImagesThatComeWhenItIsThere) {
  ThreadPool pool(0);
  const char* id = nullptr;
  for (const DeviceInfo& info : all_devices()) {
    if (info.usable && info.id == "opencl:0") id = "opencl:0";
  }
  if (id == nullptr) GTEST_SKIP() << "no OpenCL device";
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse("imcomplement"));
  std::vector<OpenDevice> first;
  first.push_back(open_device({.backend = "cpu", .device = ""}, pool));
  Lanes lanes(pipeline, std::move(first), {});
  const auto program = lanes.program(ImageType{}, {});
  lanes.open_later([&] { return open_device({.backend = "auto", .device = id}, pool); }, {},
                   [](Session& session, const auto&) {
                     return std::vector<CodecKernel*>{&session.jpeg_decoder()};
                   });
  EXPECT_EQ(lanes.session(0).device().id, "cpu");
  std::vector<std::string> details;
  for (int i = 0; i < 6000 && details.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    details = lanes.take_details();
  }
  ASSERT_EQ(details.size(), 1u);
  EXPECT_TRUE(details[0].starts_with("auto: opencl:0 computes from now on (")) << details[0];
  EXPECT_FALSE(lanes.is_opening());
  EXPECT_EQ(lanes.count(), 2u);
  EXPECT_EQ(lanes.names(), "cpu, opencl:0");
  EXPECT_EQ(lanes.first().device().id, "opencl:0");
  EXPECT_NE(lanes.first().jpeg_decoder().kernel_in_time(), nullptr);
  {
    const Lanes::Turn turn = lanes.take(), other = lanes.take();
    EXPECT_EQ(turn.device, 1u);
    EXPECT_EQ(&turn.session, &lanes.session(1));
    EXPECT_NE(&turn.queue, &other.queue);
    lanes.add(turn.device);
  }
  EXPECT_EQ(lanes.program(ImageType{}, {}), program);
  EXPECT_EQ(lanes.shares()[1].images, 1);
}

TEST(LaterDevice, IsDoneWithoutWhereThereIsNone) {
  ThreadPool pool(0);
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse("imcomplement"));
  std::vector<OpenDevice> first;
  first.push_back(open_device({.backend = "cpu", .device = ""}, pool));
  Lanes lanes(pipeline, std::move(first), {});
  lanes.open_later([]() -> OpenDevice { throw Error("no GPU can be used: none"); }, {}, {});
  std::vector<std::string> details;
  for (int i = 0; i < 1000 && details.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    details = lanes.take_details();
  }
  ASSERT_EQ(details.size(), 1u);
  EXPECT_TRUE(details[0].starts_with("auto: no GPU can be used: none (")) << details[0];
  EXPECT_EQ(lanes.count(), 1u);
  EXPECT_EQ(lanes.take().device, 0u);
}

TEST(Automatic, ShortWorkStaysOnTheCpuAndTouchesNoGpu) {
  ThreadPool pool(0);
  WorkCost cost;
  cost.add(plan_of("imcomplement"), 1e6, 1);
  const OpenDevice chosen = choose_device(cost, 4, pool);
  EXPECT_EQ(chosen.device->info().id, "cpu");
  EXPECT_EQ(chosen.why, "about 0.018 ms of work, and a GPU would take 0.25 s, its start included");
}

TEST(Automatic, LongWorkGoesToAGpuWhereThereIsOne) {
  ThreadPool pool(0);
  WorkCost cost;
  cost.add(plan_of("medfilt2 9 9"), 1e12, 1000);
  const OpenDevice chosen = choose_device(cost, 4, pool);
  bool has_gpu = false;
  for (const DeviceInfo& info : all_devices()) has_gpu = has_gpu || (info.usable && info.is_gpu);
  if (has_gpu) {
    EXPECT_NE(chosen.device->info().id, "cpu") << chosen.why;
  } else {
    EXPECT_EQ(chosen.device->info().id, "cpu");
    EXPECT_TRUE(chosen.why.starts_with("no GPU can be used: cuda:0: ")) << chosen.why;
  }
}

// A device that gives the CPU's results but for the images of one class.
class WrongDevice : public Device {
 public:
  WrongDevice(std::unique_ptr<Device> good, PixelClass wrong, bool repaired = false)
      : good_(std::move(good)), wrong_(wrong), repaired_(repaired), info_(good_->info()) {
    info_.id = "wrong:" + std::string(name_of(wrong));
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Kernel> prepare(const KernelSpec& spec) override { return good_->prepare(spec); }
  std::unique_ptr<Kernel> prepare_baseline(Baseline baseline) override {
    return good_->prepare_baseline(baseline);
  }
  std::unique_ptr<Queue> make_queue() override {
    return repaired_ ? good_->make_queue()
                     : std::make_unique<WrongQueue>(good_->make_queue(), wrong_);
  }

 private:
  struct WrongQueue : Queue {
    WrongQueue(std::unique_ptr<Queue> q, PixelClass c) : good(std::move(q)), wrong(c) {}
    std::shared_ptr<DevicePlane> upload(const Planes& image) override {
      return good->upload(image);
    }
    Planes download(const DevicePlane& image) override {
      Planes out = good->download(image);
      Plane& last = out.back();
      if (last.cls() == wrong) *last.row(last.size().height - 1) ^= std::byte{1};
      return out;
    }
    std::shared_ptr<DevicePlane> allocate(PixelClass cls, int channels, Size size) override {
      return good->allocate(cls, channels, size);
    }
    std::shared_ptr<DeviceMeasure> allocate_measure(int channels, std::int64_t n) override {
      return good->allocate_measure(channels, n);
    }
    std::shared_ptr<DeviceMeasure> upload_measure(std::span<const double> numbers, int channels,
                                                  int count) override {
      return good->upload_measure(numbers, channels, count);
    }
    std::vector<double> download(const DeviceMeasure& m) override { return good->download(m); }
    void run(const Kernel& kernel, const Launch& launch) override { good->run(kernel, launch); }
    void wait() override { good->wait(); }
    double time() override { return good->time(); }
    std::unique_ptr<Queue> good;
    PixelClass wrong;
  };
  std::unique_ptr<Device> good_;
  PixelClass wrong_;
  bool repaired_;
  DeviceInfo info_;
};

// In a process of its own, since the cache is the process's.
TEST(Parity, IsProbedOnceADevice) {
  char folder[] = "/tmp/impipe-parity-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  EXPECT_EQ(
      impipe::testing::run_in_fresh_process("ParityInFreshCache.*", {{"IMPIPE_CACHE_DIR", folder}}),
      0);
  std::filesystem::remove_all(folder);
}

TEST(ParityInFreshCache, DISABLED_AWrongBitIsNamedAndRemembered) {
  ThreadPool pool(0);
  const auto cpu = [&] { return backends::find_backend("cpu")->open(0, pool); };
  EXPECT_EQ(parity_failure(*cpu(), pool), "");
  WrongDevice wrong(cpu(), PixelClass::uint8);
  EXPECT_EQ(parity_failure(wrong, pool), "rounding");
  WrongDevice floats(cpu(), PixelClass::single);
  EXPECT_EQ(parity_failure(floats, pool),
            "division and square root, fma and contraction, denormals");
  // A device of the same name and driver is not tried again.
  WrongDevice repaired(cpu(), PixelClass::uint8, /*repaired=*/true);
  EXPECT_EQ(parity_failure(repaired, pool), "rounding");
  const auto entries = backends::list_cache(backends::cache_folder());
  EXPECT_EQ(entries.size(), 3u);
  for (const CacheEntry& entry : entries) {
    EXPECT_EQ(entry.file.extension(), ".verdict") << entry.file;
    EXPECT_TRUE(entry.title.starts_with("verdict on ")) << entry.title;
  }
  EXPECT_EQ(backends::clear_cache(backends::cache_folder()), 3);
  EXPECT_EQ(backends::list_cache(backends::cache_folder()).size(), 0u);
}

}  // namespace
}  // namespace impipe::engine
