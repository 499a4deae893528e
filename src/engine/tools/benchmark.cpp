// Makes images, puts them on the device often enough that no cache holds them, and takes the times.
#include "engine/tools/benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <variant>

#include <fmt/format.h>

#include "backends/registry.hpp"
#include "core/error.hpp"
#include "core/host_work.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/batch/profile.hpp"
#include "engine/program/picture_parts.hpp"
#include "engine/tools/made_image.hpp"
#include "engine/tools/spread.hpp"
#include "io/codec.hpp"
#include "io/files/read_picture.hpp"

namespace impipe::engine {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// In which something moved; bands of an image move at the same time.
double transfer_seconds(std::vector<Activity> activity) {
  std::sort(activity.begin(), activity.end(),
            [](const Activity& a, const Activity& b) { return a.begin < b.begin; });
  double sum = 0, done = 0;
  for (const Activity& a : activity) {
    if (a.kind != Activity::Kind::upload && a.kind != Activity::Kind::download) continue;
    sum += std::max(0.0, a.end - std::max(a.begin, done));
    done = std::max(done, a.end);
  }
  return sum;
}

// Whether a GPU leaves it to the host.
bool is_on_host(const Step& step) {
  const auto* on_host = std::get_if<OnHost>(&step.kernel.nodes.front().primitive);
  return on_host != nullptr && !on_host->work->spectral;
}

// What `read` makes of a file, which its errors name.
template <class Read>
auto of_file(const std::string& path, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(path + ": ", error);
  }
}

HostImage read_image(const std::string& path) {
  return of_file(path, [&] { return io::decode(io::read_picture(path)).image; });
}

MadeImage probed(const std::string& path) {
  const io::ImageInfo info = of_file(path, [&] { return io::probe(path); });
  return {info.type, info.size()};
}

// What the buffers of a measurement have together at least: several times a GPU's cache. The
// processor goes through a few of them only (time_of), and its memory has to be written first.
constexpr double footprint_of_gpu = 256 << 20, footprint_of_host = 64 << 20;
constexpr size_t max_places = 4096;

constexpr std::int64_t baseline_width = 16384;

ImageType made_type(const BenchmarkOptions& options) {
  return {.cls = options.cls,
          .channels = options.channels,
          .alpha = false,
          .white = class_max(options.cls)};
}

std::map<std::string, ImageType> operand_types(const pipeline::Pipeline& pipeline,
                                               const ImageType& type) {
  std::map<std::string, ImageType> types;
  for (const std::string& name : pipeline.operands) types[name] = type;
  return types;
}

// The images that the steps read; those of the values live as long as `material` and `alpha`, the
// plane of the input's alpha.
std::map<ValueId, const Planes*> entering_images(const Plan& plan, const Material& material,
                                                 const Planes& alpha) {
  const std::vector<bool> read = values_read(plan);
  std::map<ValueId, const Planes*> entering;
  if (read[0]) entering[0] = &material.image.planes;
  if (plan.input_alpha && read_by_steps(plan)[*plan.input_alpha]) {
    entering[*plan.input_alpha] = &alpha;
  }
  for (const PlanOperand& operand : plan.operands) {
    if (read[operand.value]) {
      entering[operand.value] = &material.operands.at(operand.name).planes;
    }
  }
  return entering;
}

OpenDevice open_with(const DeviceChoice& choice, ThreadPool& pool, const KernelVariant& variant) {
  // Devices keep what they were opened with.
  struct Chosen {
    explicit Chosen(const KernelVariant& v) { backends::choose_variant(v); }
    ~Chosen() { backends::choose_variant({}); }
  } chosen(variant);
  return open_device(choice, pool);
}

}  // namespace

Benchmark::Benchmark(const DeviceChoice& choice, int threads, const KernelVariant& variant)
    : threads_(threads),
      pool_(threads - 1),
      device_(open_with(choice, pool_, variant)),
      queue_(device_.device->make_queue()),
      copy_(device_.device->prepare_baseline(Baseline::copy)),
      read_(device_.device->prepare_baseline(Baseline::read)) {
  // The GPU's own way of copying may be slower than a kernel's.
  constexpr double large = 512 << 20;
  copy_speed_ =
      device().is_gpu ? large / baseline_time(Baseline::copy, large) : measure_copy_speed(threads_);
}

size_t Benchmark::places_for(double bytes) const {
  const double footprint = device().is_gpu ? footprint_of_gpu : footprint_of_host;
  return std::clamp<size_t>(static_cast<size_t>(std::ceil(footprint / std::max(bytes, 1.0))), 2,
                            max_places);
}

Session& Benchmark::session(const pipeline::Pipeline& pipeline, const SessionOptions& options) {
  std::unique_ptr<Session>& known = sessions_[pipeline.text + (options.fuse ? "" : " --no-fuse")];
  if (!known) {
    known = std::make_unique<Session>(pipeline, OpenDevice{device_.device, device_.why, "", &pool_},
                                      options);
  }
  return *known;
}

const HostImage& Benchmark::image(const std::string& name, std::uint32_t seed,
                                  const BenchmarkOptions& options) {
  const auto source = options.sources.find(name);
  const std::string key =
      fmt::format("{} {} {} ", name_of(options.cls), options.channels, to_string(options.size)) +
      options.input + "\n" + (source != options.sources.end() ? source->second.text : "") + "\n" +
      std::to_string(seed);
  const auto [place, is_new] = images_.try_emplace(key);
  if (!is_new) return place->second;
  HostImage& made = place->second;
  if (source == options.sources.end()) {
    made = options.input.empty()
               ? make_natural_image(options.cls, options.channels, options.size, seed)
               : read_image(options.input);
    return made;
  }
  made = source->second.make_source();
  Session cpu(source->second, open_device({.backend = "cpu", .device = {}}, pool_), {});
  const auto program = cpu.program(made.type, {});
  made = execute(*program, {.image = made, .operands = {}}, *cpu.make_queue()).image;
  return made;
}

Material Benchmark::material(const pipeline::Pipeline& pipeline, const BenchmarkOptions& options) {
  // Planes and their places on the device stay for the next pipelines, within reason.
  constexpr std::int64_t max_kept = std::int64_t{3} << 29;
  std::int64_t kept = 0;
  for (const auto& [key, image] : images_) {
    for (const Plane& plane : image.planes) kept += plane.stride() * plane.size().height;
  }
  if (kept > max_kept) {
    places_.clear();
    images_.clear();
  }
  Material material;
  std::uint32_t seed = 1;
  if (pipeline.has_source()) {
    HostImage& made = images_["made by " + pipeline.text];
    if (made.empty()) made = pipeline.make_source();
    material.image = made;
  } else {
    material.image = image("", seed, options);
  }
  for (const std::string& name : pipeline.operands) {
    material.operands[name] = image(name, ++seed, options);
  }
  return material;
}

void Benchmark::prepare(
    const std::vector<std::pair<const pipeline::Pipeline*, BenchmarkOptions>>& all) {
  std::vector<std::future<void>> made;
  for (const auto& [pipeline, options] : all) {
    const ImageType type = made_type(options);
    const auto operands = operand_types(*pipeline, type);
    const auto make = [=, &of = session(*pipeline, options.session)] {
      try {
        for (const PendingKernel& kernel : of.program(type, operands)->kernels) kernel.wait();
      } catch (const Error&) {
      }
    };
    try {
      made.push_back(std::async(std::launch::async, make));
    } catch (const std::system_error&) {  // no thread for it
      make();
    }
  }
}

void Benchmark::check_sizes(Session& session, const pipeline::Pipeline& pipeline,
                            const BenchmarkOptions& options) const {
  MadeImage input{made_type(options), options.size};
  if (pipeline.has_source()) {
    input = pipeline::checked_source(pipeline, options.max_pixels);
  } else if (!options.input.empty()) {
    input = probed(options.input);
  }
  const auto program = session.program(input.type, operand_types(pipeline, input.type));
  std::map<std::string, Size> operands;
  for (const std::string& name : pipeline.operands) operands[name] = input.size;
  // A made image is as large as --size asks for.
  const std::int64_t most = std::max(options.max_pixels, input.size.pixels());
  const std::vector<Size> sizes =
      pipeline::planned_sizes(pipeline, program->lowered, input.size, operands, most);
  // Each image as it is made and, where the device's memory is the host's, what a run has at the
  // same time in two places and the baseline's two copies of what it reads and writes.
  const double made = static_cast<double>(input.type.channels * bytes_of(input.type.cls)) *
                      static_cast<double>(1 + pipeline.operands.size()) *
                      static_cast<double>(input.size.pixels());
  const double there = device().is_gpu ? 0 : 4 * image_bytes(*program, sizes, 0).on_device;
  const double bytes = made + there * options.stack;
  const auto memory = 2 * static_cast<double>(default_memory());
  constexpr double giga = 1 << 30;
  if (bytes <= memory) return;
  const bool chosen = options.input.empty() && !pipeline.has_source();
  throw Error(fmt::format("{}{}x{} pixels take about {:.0f} GiB here, and there are {:.1f}",
                          chosen ? "--size: " : "", input.size.width, input.size.height,
                          bytes / giga, memory / giga));
}

void Benchmark::copy(DevicePlane& to, DevicePlane& from) {
  const auto value = [](DevicePlane& plane) {
    // The queue has used the planes when they go.
    return DeviceValue{{std::shared_ptr<DevicePlane>(), &plane}, nullptr};
  };
  queue_->run(*copy_, {.spec = nullptr, .inputs = {value(from)}, .outputs = {value(to)}});
}

std::vector<std::shared_ptr<DevicePlane>> Benchmark::places_of(const Planes& image, size_t count) {
  const Plane& first = image.front();
  auto& places = places_[first.row(0)];
  while (places.size() < count) {
    if (places.empty()) {
      places.push_back(queue_->upload(image));
    } else {
      places.push_back(queue_->allocate(first.cls(), static_cast<int>(image.size()), first.size()));
      copy(*places.back(), *places.front());
    }
  }
  return {places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::shared_ptr<DevicePlane> Benchmark::place_for(PixelClass cls, int channels, Size size,
                                                  int count) {
  if (device().is_gpu) return queue_->allocate_stack(cls, channels, size, count);
  // The host's memory is only there once it was written: the system's work for that, at the first
  // run that writes a place, is none of the pipeline's.
  std::vector<Planes> images;
  for (int i = 0; i < count; ++i) {
    images.push_back(new_planes(cls, channels, size));
    for (Plane& plane : images.back()) {
      for (std::int64_t y = 0; y < size.height; ++y) {
        std::memset(plane.row(y), 0, static_cast<size_t>(plane.row_bytes()));
      }
    }
  }
  return queue_->upload_stack(images);
}

Benchmark::Times Benchmark::time_of(const std::function<void(size_t)>& give, size_t places) {
  // Other programs interrupt a processor: of many short groups the median is one that they did not.
  const bool is_gpu = device().is_gpu;
  const double min_group = is_gpu ? 2e-3 : 2e-4, longest = is_gpu ? 1 : 0.5;
  constexpr double longest_group = 0.1;
  constexpr int min_groups = 5;
  const int max_groups = is_gpu ? 7 : 101;
  // The first run takes memory and warms up.
  size_t next = 0;
  give(next++);
  queue_->wait();
  const double start = queue_->time();
  give(next++);
  const double once = std::max(queue_->time() - start, 1e-6);
  // A GPU's group goes through all places, if that does not take too long.
  const size_t turn = is_gpu ? places : 1;
  const auto turns = static_cast<size_t>(std::ceil(min_group / (once * static_cast<double>(turn))));
  const auto most = static_cast<size_t>(std::max(1.0, longest_group / once));
  const size_t runs = std::clamp<size_t>(turn * turns, 1, std::min(most, max_places));
  const double group = once * static_cast<double>(runs);
  const int groups = std::clamp(static_cast<int>(longest / group), min_groups, max_groups);
  std::vector<double> seconds = queue_->time_of(
      [&] {
        for (size_t i = 0; i < runs; ++i) give(next++);
      },
      groups + 1);
  seconds.erase(seconds.begin());
  for (double& s : seconds) s /= static_cast<double>(runs);
  return {spread_of(std::move(seconds)), groups};
}

double Benchmark::baseline_time(Baseline baseline, double bytes) {
  const bool copies = baseline == Baseline::copy;
  const auto each = static_cast<std::int64_t>(copies ? bytes / 2 : bytes);
  const Size size{baseline_width,
                  std::max<std::int64_t>(1, (each + baseline_width - 1) / baseline_width)};
  const auto [known, is_new] = baseline_times_.try_emplace({baseline, size.height});
  if (!is_new) return known->second;
  const size_t places = places_for(bytes);
  std::vector<DeviceValue> from(places), to(places);
  for (size_t i = 0; i < places; ++i) {
    from[i].plane = place_for(PixelClass::uint8, 1, size, 1);
    if (copies) {
      to[i].plane = place_for(PixelClass::uint8, 1, size, 1);
    } else {
      to[i].measure = queue_->allocate_measure(1, 1);
    }
  }
  const Kernel& kernel = copies ? *copy_ : *read_;
  return known->second = time_of(
                             [&](size_t i) {
                               queue_->run(kernel, {.spec = nullptr,
                                                    .inputs = {from[i % places]},
                                                    .outputs = {to[i % places]}});
                             },
                             places)
                             .spread.median;
}

void Benchmark::empty_caches() {
  constexpr size_t line = 64;
  swept_.resize(static_cast<size_t>(footprint_of_host));
  const size_t parts = 4 * static_cast<size_t>(threads_), part = swept_.size() / parts;
  pool_.for_each(static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    const size_t begin = static_cast<size_t>(p) * part;
    for (size_t i = begin; i < begin + part; i += line) swept_[i] ^= std::byte{1};
  });
}

void Benchmark::measure_wall(Session& session, const Program& program, const Material& material,
                             const BenchmarkOptions& options, BenchmarkResult& result) {
  constexpr double budget_ms = 1000;
  constexpr int min_runs = 5, max_runs = 1000;
  ExecuteOptions how{.one_nan = session.one_nan(program)};
  // The first run warms caches and memory up and is not counted.
  const auto first = Clock::now();
  result.outcome = execute_in_parts(program, material, *queue_, how);
  result.cold_ms += milliseconds_since(first);
  std::vector<double> times;
  const auto begin = Clock::now();
  const int runs = options.repeat > 0 ? options.repeat : max_runs;
  while (static_cast<int>(times.size()) < runs) {
    if (!options.in_cache) empty_caches();
    const auto start = Clock::now();
    execute_in_parts(program, material, *queue_, how);
    times.push_back(milliseconds_since(start));
    if (options.repeat == 0 && static_cast<int>(times.size()) >= min_runs &&
        milliseconds_since(begin) > budget_ms) {
      break;
    }
  }
  result.runs = static_cast<int>(times.size());
  result.take_wall(spread_of(std::move(times)));
  how.timed = true;
  result.transfer_ms =
      1e3 * transfer_seconds(execute_in_parts(program, material, *queue_, how).activity);
}

std::shared_ptr<DevicePlane> Benchmark::stack_of(const Planes& image, int count) {
  return queue_->upload_stack(std::vector<Planes>(static_cast<size_t>(count), image));
}

void Benchmark::put_in_all(std::vector<std::vector<DeviceValue>>& places, ValueId id,
                           const DeviceValue& made) {
  for (std::vector<DeviceValue>& place : places) {
    place[id] = made;
    if (!made.plane) continue;
    place[id].plane =
        queue_->allocate(made.plane->cls(), made.plane->channels(), made.plane->size());
    copy(*place[id].plane, *made.plane);
  }
}

void Benchmark::measure_device(const Program& program, const Material& material, int stack,
                               BenchmarkResult& result) {
  const Plan& plan = program.plan;
  std::map<std::string, Size> operand_sizes;
  for (const auto& [name, image] : material.operands) operand_sizes[name] = image.size();
  const std::vector<Size> sizes = sizes_of(program, material.image.size(), operand_sizes);
  const Planes alpha = plan.input_alpha ? Planes{material.image.alpha} : Planes();
  const std::map<ValueId, const Planes*> entering = entering_images(plan, material, alpha);
  const auto bytes_of_value = [&](ValueId id) {
    return static_cast<double>(sizes[id].pixels() * bytes_per_pixel(plan.values[id])) * stack;
  };
  const bool makes_image = plan.writes_image && !entering.contains(plan.result);
  for (const auto& [id, image] : entering) result.bytes += bytes_of_value(id);
  if (makes_image) result.bytes += bytes_of_value(plan.result);
  if (plan.result_alpha && plan.result_alpha != plan.input_alpha) {
    result.bytes += bytes_of_value(*plan.result_alpha);
  }
  const size_t places = places_for(result.bytes);
  std::vector<DeviceValue> first(plan.values.size());
  put_constants(plan, first, *queue_, stack);
  std::vector<std::vector<DeviceValue>> values(places, first);
  for (const auto& [id, image] : entering) {
    if (stack > 1 || image == &alpha) {
      for (size_t i = 0; i < places; ++i) values[i][id].plane = stack_of(*image, stack);
      continue;
    }
    const auto there = places_of(*image, places);
    for (size_t i = 0; i < places; ++i) values[i][id].plane = there[i];
  }
  for (size_t i = 0; i < places && makes_image; ++i) {
    const ImageType& type = plan.values[plan.result].type;
    values[i][plan.result].plane = place_for(type.cls, type.channels, sizes[plan.result], stack);
  }
  const auto give = [&](size_t i) {
    std::vector<DeviceValue> live = values[i % places];
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      // What the host makes is made once, as no graph can wait for it: it is no work of the
      // device's.
      const bool on_host = device().is_gpu && is_on_host(plan.steps[s]);
      if (on_host && live[plan.steps[s].outputs.front()].plane) continue;
      launch_step(program, s, sizes, live, *queue_, stack);
      // Nor is waiting for how many records there are.
      for (const ValueId id : plan.steps[s].outputs) {
        if (on_host || plan.values[id].counted_by) put_in_all(values, id, live[id]);
      }
      for (const ValueId id : program.dead_after[s]) live[id] = {};
    }
  };
  if (device().is_gpu) give(0);  // with the work that is done once
  const std::int64_t before = queue_->launches();
  give(0);
  result.launches = queue_->launches() - before;
  const Times times = time_of(give, places);
  result.take_device(times.spread, times.groups);
  result.floor = result.bytes / copy_speed_;
  result.baseline = makes_image ? Baseline::copy : Baseline::read;
  result.baseline_time = baseline_time(result.baseline, result.bytes);
}

BenchmarkResult Benchmark::run(const pipeline::Pipeline& pipeline,
                               const BenchmarkOptions& options) {
  Session& of = session(pipeline, options.session);
  const auto begin = Clock::now();
  check_sizes(of, pipeline, options);  // makes the plan, and its kernels aside
  const double planned_ms = milliseconds_since(begin);
  const Material what = material(pipeline, options);
  std::map<std::string, ImageType> types;
  for (const auto& [name, image] : what.operands) types[name] = image.type;
  const auto program = of.program(what.image.type, types);
  BenchmarkResult result;
  result.type = what.image.type;
  result.size = what.image.size();
  result.cold_ms = planned_ms;
  if (options.wall) measure_wall(of, *program, what, options, result);
  if (options.stack > 1 && device().is_gpu && of.max_stacked(*program, 0) >= options.stack) {
    measure_device(*of.stacked(program), what, options.stack, result);
    return result;
  }
  measure_device(*program, what, 1, result);
  for (double* amount : {&result.device, &result.device_least, &result.device_deviation,
                         &result.bytes, &result.floor, &result.baseline_time}) {
    *amount *= options.stack;
  }
  result.launches *= options.stack;
  return result;
}

}  // namespace impipe::engine
