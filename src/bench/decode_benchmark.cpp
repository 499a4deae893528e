// Times the decoding of JPEGs in memory: on the device where it has kernels for that, else by the
// processor's threads.
#include <algorithm>

#include "bench/suite_benchmark.hpp"
#include "core/error.hpp"
#include "engine/tools/made_image.hpp"
#include "io/codec.hpp"
#include "io/formats/jpeg/jpeg_scan.hpp"

namespace impipe::bench {
namespace {

double seconds_since(double start) { return steady_seconds() - start; }

std::vector<io::Bytes> made_files(Size size, int count) {
  // Different ones, of which more would only take their time to make.
  constexpr std::uint32_t kinds = 8;
  std::vector<io::Bytes> files;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
    if (i >= kinds) {
      files.push_back(files[i % kinds]);
      continue;
    }
    const HostImage image = engine::make_natural_image(PixelClass::uint8, 3, size, i + 1);
    io::EncodeOptions options;
    options.quality = 90;
    options.subsampling = {2, 2};
    files.push_back(io::encode(image, {}, io::Format::jpeg, PixelClass::uint8, options).bytes);
  }
  return files;
}

std::vector<CodedJpeg> scanned(const std::vector<io::Bytes>& files) {
  std::vector<CodedJpeg> coded;
  for (const io::Bytes& file : files) {
    auto one = io::scan_jpeg(file);
    if (!one) throw Error("a made JPEG is none that a device decodes");
    coded.push_back(std::move(*one));
  }
  return coded;
}

// Seconds of runs, sorted: at least 5, and as many as fit into about a second.
template <class Run>
std::vector<double> times_of(Run run) {
  constexpr double budget = 1;
  constexpr std::size_t least = 5, most = 1000;
  run();
  std::vector<double> times;
  const double begin = steady_seconds();
  while (times.size() < least || (times.size() < most && seconds_since(begin) < budget)) {
    const double start = steady_seconds();
    run();
    times.push_back(seconds_since(start));
  }
  std::ranges::sort(times);
  return times;
}

// JPEGs that a queue decodes again and again.
class DeviceDecoding {
 public:
  DeviceDecoding(const std::vector<io::Bytes>& files, Size size, Queue& queue, const Kernel& kernel)
      : files_(files), queue_(queue), kernel_(kernel) {
    const int count = static_cast<int>(files.size());
    images_ = queue.allocate_stack(PixelClass::uint8, 3, size, count);
    faults_ = queue.allocate_measure_stack(1, 1, count);
  }

  // From files in the host's memory to pixels in the device's.
  void run() {
    const std::vector<CodedJpeg> coded = scanned(files_);
    Launch launch;
    launch.outputs = {{images_, nullptr}, {nullptr, faults_}};
    for (const CodedJpeg& one : coded) launch.jpegs.push_back(&one);
    queue_.run(kernel_, launch);
    for (const double fault : queue_.download(*faults_)) {
      if (fault != 0) throw Error("the device does not decode a made JPEG");
    }
  }

  // Seconds of the kernels of a run, sorted.
  std::vector<double> kernel_times() {
    constexpr std::size_t runs = 7;
    queue_.begin_notes();
    for (std::size_t i = 0; i < runs; ++i) run();
    std::vector<Activity> work = queue_.take_notes();
    std::erase_if(work, [](const Activity& a) { return a.kind != Activity::Kind::kernel; });
    // A queue notes a launch as a whole, or each of its kernels.
    const std::size_t a_run = std::max<std::size_t>(1, work.size() / runs);
    std::vector<double> times(runs);
    for (std::size_t i = 0; i < work.size(); ++i) {
      times[std::min(i / a_run, runs - 1)] += work[i].end - work[i].begin;
    }
    std::ranges::sort(times);
    return times;
  }

  Planes first_image() { return queue_.download_stack(*images_).front(); }

 private:
  const std::vector<io::Bytes>& files_;
  Queue& queue_;
  const Kernel& kernel_;
  std::shared_ptr<DevicePlane> images_;
  std::shared_ptr<DeviceMeasure> faults_;
};

}  // namespace

engine::BenchmarkResult SuiteBenchmark::run_decoder(int count, Size size) {
  const std::vector<io::Bytes> files = made_files(size, count);
  engine::BenchmarkResult result;
  result.type = {.cls = PixelClass::uint8, .channels = 3};
  result.size = size;
  for (const io::Bytes& file : files) result.bytes += static_cast<double>(file.size());
  result.bytes += 3.0 * static_cast<double>(size.pixels()) * count;
  result.floor = result.bytes / copy_speed_;
  result.outcome.image.type = result.type;
  const auto kernel = device_.device->prepare_jpeg_decoder();
  std::vector<double> walls, kernels;
  if (kernel == nullptr) {
    kernels = walls = times_of([&] {
      pool_.for_each(count, [&](std::int64_t i) { io::decode(files[static_cast<size_t>(i)]); });
    });
    result.outcome.image = io::decode(files.front()).image;
  } else {
    DeviceDecoding decoding(files, size, *queue_, *kernel);
    const std::int64_t before = queue_->launches();
    decoding.run();
    result.launches = queue_->launches() - before;
    walls = times_of([&] { decoding.run(); });
    kernels = decoding.kernel_times();
    result.outcome.image.planes = decoding.first_image();
  }
  result.median_ms = 1e3 * walls[walls.size() / 2];
  result.min_ms = 1e3 * walls.front();
  result.runs = static_cast<int>(walls.size());
  result.device = kernels[kernels.size() / 2];
  result.device_least = kernels.front();
  result.groups = static_cast<int>(kernels.size());
  return result;
}

}  // namespace impipe::bench
