// Makes an image, runs the pipeline on it again and again, and takes the times.
#include "engine/benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.hpp"
#include "io/codec.hpp"

namespace impipe::engine {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class T>
void fill_row(T* row, std::int64_t y, Size size, int channels, double white, std::uint32_t& state) {
  for (std::int64_t x = 0; x < size.width; ++x) {
    const double u = static_cast<double>(x) / static_cast<double>(size.width);
    const double v = static_cast<double>(y) / static_cast<double>(size.height);
    for (int c = 0; c < channels; ++c) {
      // Soft waves, a disk with a hard rim, and noise of a twentieth of the range.
      double value = 0.35 + 0.2 * u + 0.15 * std::sin(25 * u + c) * std::cos(19 * v);
      if ((u - 0.5) * (u - 0.5) + (v - 0.4) * (v - 0.4) < 0.04) value += 0.2;
      state = state * 1664525u + 1013904223u;
      value += 0.05 * (static_cast<double>(state >> 8) / (1 << 24) - 0.5);
      value = std::clamp(value, 0.0, 1.0) * white;
      row[x * channels + c] = static_cast<T>(std::is_integral_v<T> ? std::round(value) : value);
    }
  }
}

HostImage make_image(const BenchmarkOptions& options, std::uint32_t seed) {
  HostImage image(
      {.cls = options.cls, .channels = options.channels, .white = class_max(options.cls)},
      options.size);
  std::uint32_t state = seed;
  for (std::int64_t y = 0; y < options.size.height; ++y) {
    switch (options.cls) {
      case PixelClass::uint16:
        fill_row(image.pixels.row_as<std::uint16_t>(y), y, options.size, options.channels, 65535,
                 state);
        break;
      case PixelClass::single:
        fill_row(image.pixels.row_as<float>(y), y, options.size, options.channels, 1, state);
        break;
      default:
        fill_row(image.pixels.row_as<std::uint8_t>(y), y, options.size, options.channels,
                 class_max(options.cls), state);
    }
  }
  return image;
}

HostImage read_image(const std::string& path) {
  try {
    return io::decode(io::read_picture(path)).image;
  } catch (const Error& error) {
    throw Error(path + ": " + error.what(), ExitCode::file_failed);
  }
}

}  // namespace

BenchmarkResult benchmark(pipeline::Pipeline pipeline, const BenchmarkOptions& options) {
  constexpr double budget_ms = 1000;
  constexpr int least_runs = 5, most_runs = 1000;
  ThreadPool pool(options.threads - 1);
  Session session(std::move(pipeline), open_device(options.device, pool), options.session);
  const auto queue = session.make_queue();
  Material material;
  if (session.pipeline().has_source()) {
    material.image = session.pipeline().make_source();
  } else {
    material.image = options.input.empty() ? make_image(options, 1) : read_image(options.input);
  }
  std::map<std::string, ImageType> types;
  std::uint32_t seed = 2;
  for (const std::string& name : session.pipeline().operands) {
    material.operands[name] =
        options.input.empty() ? make_image(options, seed++) : read_image(options.input);
    types[name] = material.operands[name].type;
  }
  const auto program = session.program(material.image.type, types);
  const KernelSource kernels = [&](const KernelSpec& spec) { return session.kernel(spec); };
  // The first run warms caches and memory up and is not counted.
  execute(*program, material, *queue, kernels);
  std::vector<double> times;
  const auto begin = Clock::now();
  const int runs = options.repeat > 0 ? options.repeat : most_runs;
  while (static_cast<int>(times.size()) < runs) {
    const auto start = Clock::now();
    execute(*program, material, *queue, kernels);
    times.push_back(milliseconds_since(start));
    if (options.repeat == 0 && static_cast<int>(times.size()) >= least_runs &&
        milliseconds_since(begin) > budget_ms) {
      break;
    }
  }
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  const double median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  return {median, times.front(), static_cast<int>(times.size())};
}

}  // namespace impipe::engine
