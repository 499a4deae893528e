// Times pipelines on images in memory: their steps on the device's clock, and the way from decoded
// pixels to the result in host memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/kernel_variant.hpp"
#include "engine/device/session.hpp"
#include "engine/tools/spread.hpp"
#include "pipeline/image_sizes.hpp"

namespace impipe::engine {

// The images of a measurement and how often.
struct BenchmarkOptions {
  SessionOptions session;
  Size size = {2048, 2048};
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  std::string input;  // a picture file instead of the made image
  // Pipelines that make an image of that name, "" for the input; otherwise it is
  // make_natural_image.
  std::map<std::string, pipeline::Pipeline> sources;
  std::int64_t max_pixels = pipeline::default_max_pixels;
  // Equal images, in one launch where the device can, else one after the other; times are then
  // those of all of them.
  int stack = 1;
  bool wall = true;  // measure decoded pixels to result too
  int repeat = 0;    // runs of that; 0: as many as fit into about a second, at least 5
  // The image of these runs may be in the processor's caches, from the run before.
  bool in_cache = false;
};

struct BenchmarkResult {
  ImageType type;  // of the image that was taken
  Size size;
  // Decoded pixels to result, on the host's clock.
  double median_ms = 0, min_ms = 0;
  double wall_deviation_ms = 0;  // of the runs: the standard deviation
  int runs = 0;
  double cold_ms = 0;      // the first one: plan, compiling what is in no cache, and the run
  double transfer_ms = 0;  // uploads and downloads of a run
  Outcome outcome;         // of the first run, when `wall` was asked for
  // A run of all steps on images that are on the device, on its clock: the median and the least
  // of `groups` groups of runs, seconds. Buffers rotate, so that no cache holds what is read.
  double device = 0, device_least = 0;
  double device_deviation = 0;  // of the groups: the standard deviation
  int groups = 0;
  std::int64_t launches = 0;  // kernels
  // That must move: each image that enters is read, the one that leaves is written.
  double bytes = 0;
  double floor = 0;  // seconds: those bytes at the speed of a large copy
  // Copying as many bytes in the same way or, when no image leaves, reading them; seconds.
  Baseline baseline = Baseline::copy;
  double baseline_time = 0;

  void take_wall(const Spread& milliseconds) {
    median_ms = milliseconds.median;
    min_ms = milliseconds.least;
    wall_deviation_ms = milliseconds.deviation;
  }
  void take_device(const Spread& seconds, int of_groups) {
    device = seconds.median;
    device_least = seconds.least;
    device_deviation = seconds.deviation;
    groups = of_groups;
  }
};

// A device and images on it, for pipelines in turn. One thread.
class Benchmark {
 public:
  // variant: of a GPU's kernels; the CPU has none.
  Benchmark(const DeviceChoice& choice, int threads, const KernelVariant& variant = {});

  const DeviceInfo& device() const { return device_.device->info(); }
  double copy_speed() const { return copy_speed_; }  // bytes a second, read plus written

  // Throws Error.
  BenchmarkResult run(const pipeline::Pipeline& pipeline, const BenchmarkOptions& options);
  // Makes the pipelines' kernels, several at a time; errors come from `run`.
  void prepare(const std::vector<std::pair<const pipeline::Pipeline*, BenchmarkOptions>>& all);

 protected:  // of impipe-bench, which measures more than pipelines
  // Of several groups of runs; seconds a run.
  struct Times {
    Spread spread;
    int groups;
  };
  Session& session(const pipeline::Pipeline& pipeline, const SessionOptions& options);
  // Throws Error when an image would be larger than is allowed, or when all together would not fit
  // into the host's memory.
  void check_sizes(Session& session, const pipeline::Pipeline& pipeline,
                   const BenchmarkOptions& options) const;
  const HostImage& image(const std::string& name, std::uint32_t seed,
                         const BenchmarkOptions& options);
  Material material(const pipeline::Pipeline& pipeline, const BenchmarkOptions& options);
  // How many buffers of so many bytes no cache holds.
  size_t places_for(double bytes) const;
  // The image's pixels on the device, in that many places.
  std::vector<std::shared_ptr<DevicePlane>> places_of(const Planes& image, size_t count);
  // For results, in memory that is there.
  std::shared_ptr<DevicePlane> place_for(PixelClass cls, int channels, Size size, int count);
  std::shared_ptr<DevicePlane> stack_of(const Planes& image, int count);
  void copy(DevicePlane& to, DevicePlane& from);
  // An image that comes next is in no cache, as it is in none of those that `places_for` counts.
  void empty_caches();
  void measure_wall(Session& session, const Program& program, const Material& material,
                    const BenchmarkOptions& options, BenchmarkResult& result);
  // The program's kernels are for stacks of `stack` images.
  void measure_device(const Program& program, const Material& material, int stack,
                      BenchmarkResult& result);
  // A value that was made once: images as copies, so that no cache holds them.
  void put_in_all(std::vector<std::vector<DeviceValue>>& places, ValueId id,
                  const DeviceValue& made);
  double baseline_time(Baseline baseline, double bytes);
  // `give(i)` gives the work of a run to the queue; i counts on.
  Times time_of(const std::function<void(size_t)>& give, size_t places);

  int threads_;
  ThreadPool pool_;
  OpenDevice device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Kernel> copy_, read_;
  double copy_speed_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;  // by the pipeline's text
  // Kept for the next pipelines, up to a sum of bytes.
  std::map<std::string, HostImage> images_;
  std::map<const std::byte*, std::vector<std::shared_ptr<DevicePlane>>> places_;
  std::map<std::pair<Baseline, std::int64_t>, double> baseline_times_;
  std::vector<std::byte> swept_;  // memory of more than the caches
};

}  // namespace impipe::engine
