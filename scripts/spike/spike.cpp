// Runs each body of the spike on every instruction set and device there is, and compares all bits
// with the baseline rows of g++.
#include "spike.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <type_traits>

namespace spike {
namespace {

template <class real>
using Bits = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;

double milliseconds(const auto& work, int repeats) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// One in `rarity` is awkward: any bit pattern, a special value or a rounding tie; the rest are
// values a picture may have.
template <class real>
std::vector<real> picture(std::size_t count, unsigned seed, unsigned rarity) {
  std::vector<real> values(count);
  std::mt19937_64 random(seed);
  const real special[] = {0,
                          real(-0.0),
                          std::numeric_limits<real>::infinity(),
                          -std::numeric_limits<real>::infinity(),
                          std::numeric_limits<real>::quiet_NaN(),
                          std::numeric_limits<real>::denorm_min(),
                          std::numeric_limits<real>::min() / 3,
                          std::numeric_limits<real>::max(),
                          std::nextafter(real(0.5), real(0))};
  for (real& value : values) {
    const std::uint64_t bits = random();
    value = static_cast<real>(static_cast<double>(bits >> 11) * 0x1p-53 * 260 - 2);
    if ((bits & 0xff) % rarity != 0) continue;
    switch (bits >> 62) {
      case 0:
        value = std::bit_cast<real>(static_cast<Bits<real>>(random()));
        break;
      case 1:
        value = special[random() % std::size(special)];
        break;
      case 2:
        value = static_cast<real>(static_cast<int>(random() % 512)) / 2;
        break;
      default:
        value = value * std::numeric_limits<real>::min();
        break;
    }
  }
  return values;
}

template <class real>
void report(const std::string& backend, const std::string& body, const std::vector<real>& expected,
            const std::vector<real>& got, double ms) {
  std::size_t different = 0;
  double furthest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const real a = expected[i], b = got[i];
    if constexpr (std::is_floating_point_v<real>) {
      if (std::isnan(a) && std::isnan(b)) continue;
      if (std::bit_cast<Bits<real>>(a) == std::bit_cast<Bits<real>>(b)) continue;
      const auto p = std::bit_cast<Bits<real>>(a), q = std::bit_cast<Bits<real>>(b);
      furthest = std::max(furthest, static_cast<double>(p > q ? p - q : q - p));
    } else if (a == b) {
      continue;
    }
    ++different;
  }
  std::printf("%-16s %-14s %s", backend.c_str(), body.c_str(),
              different ? "" : "bits equal          ");
  if (different) std::printf("%zu differ, <= %g ulp", different, furthest);
  std::printf("  %8.3f ms\n", ms);
}

const char* const level_names[] = {"g++ baseline", "g++ v3", "g++ v4"};

bool has(int level) {
  return level == 0 ||
         (level == 1 ? __builtin_cpu_supports("x86-64-v3") : __builtin_cpu_supports("x86-64-v4"));
}

template <class real>
auto rows_of(const impipe::PointBody& body) {
  if constexpr (sizeof(real) == 4)
    return body.rows_float;
  else
    return body.rows_double;
}

template <class real>
std::vector<real> parameters_of(const impipe::PointBody& body) {
  if (body.parameters == 4) return {real(10.1), real(240.7), real(0.3), real(254.9)};
  if (body.name == std::string("power")) return {real(0.45)};
  return {real(255)};
}

template <class real>
void point(const impipe::PointBody& body, const std::vector<Device*>& devices) {
  const std::string name = std::string(body.name) + (sizeof(real) == 4 ? " float" : " double");
  const std::vector<real> x = picture<real>(pixels, 1, 4), y = picture<real>(pixels, 2, 4);
  const std::vector<real> parameters = parameters_of<real>(body);
  const real* in[] = {x.data(), y.data()};
  std::vector<real> expected(pixels), got(pixels);
  for (int level = 0; level < impipe::cpu_levels; ++level) {
    if (!has(level)) continue;
    const auto row = rows_of<real>(body)[level];
    std::vector<real>& out = level == 0 ? expected : got;
    row(out.data(), in, pixels, parameters.data());
    std::vector<real> one_row(side);
    const double ms = milliseconds(
        [&] {
          for (std::int64_t i = 0; i < side; ++i) row(one_row.data(), in, side, parameters.data());
        },
        5);
    report(level_names[level], name, expected, level == 0 ? expected : got, ms);
  }
  for (Device* device : devices) {
    std::vector<Argument> arguments;
    for (int i = 0; i < body.inputs; ++i)
      arguments.push_back(device->buffer(pixels * sizeof(real), in[i]));
    const std::uint64_t out = device->buffer(pixels * sizeof(real), nullptr);
    arguments.push_back(out);
    arguments.push_back(pixels);
    for (int i = 0; i < body.parameters; ++i)
      arguments.push_back(parameters[static_cast<std::size_t>(i)]);
    const std::string kernel = std::string(body.name) + (sizeof(real) == 4 ? "_float" : "_double");
    double ms = 1e9;
    for (int i = 0; i < 5; ++i) ms = std::min(ms, device->run(kernel, pixels, 1, 256, arguments));
    device->read(out, got.data(), pixels * sizeof(real));
    report(device->name().substr(0, 16), name, expected, got, ms);
  }
}

void stencil(const std::vector<Device*>& devices) {
  const std::int64_t pitch = side + 2;
  const std::vector<float> in = picture<float>(static_cast<std::size_t>(pitch * pitch), 3, 64);
  const float scale = 0.37f;
  std::vector<float> expected(pixels), got(pixels);
  for (int level = 0; level < impipe::cpu_levels; ++level) {
    if (!has(level)) continue;
    std::vector<float>& out = level == 0 ? expected : got;
    const double ms = milliseconds(
        [&] {
          for (std::int64_t r = 0; r < side; ++r) {
            const float* rows[] = {&in[r * pitch + 1], &in[(r + 1) * pitch + 1],
                                   &in[(r + 2) * pitch + 1]};
            impipe::bodies::prewitt.rows[level](&out[r * side], rows, side, 1, &scale);
          }
        },
        5);
    report(level_names[level], "prewitt float", expected, level == 0 ? expected : got, ms);
  }
  for (Device* device : devices) {
    const std::uint64_t from = device->buffer(in.size() * 4, in.data());
    const std::uint64_t to = device->buffer(pixels * 4, nullptr);
    double ms = 1e9;
    for (int i = 0; i < 5; ++i) {
      ms = std::min(
          ms, device->run("prewitt", side, side, 256,
                          {from, to, static_cast<int>(side), static_cast<int>(pitch), scale}));
    }
    device->read(to, got.data(), pixels * 4);
    report(device->name().substr(0, 16), "prewitt float", expected, got, ms);
  }
}

template <class Sum>
Sum pairwise(std::vector<Sum> values) {
  for (std::size_t step = 1; step < values.size(); step *= 2) {
    for (std::size_t i = 0; i + step < values.size(); i += 2 * step) values[i] += values[i + step];
  }
  return values[0];
}

// The rule of DESIGN's "Numbers", written down directly.
template <class Pixel, class Sum>
Sum sum_of(const std::vector<Pixel>& in, std::int64_t width, std::int64_t height) {
  std::vector<Sum> cells;
  for (std::int64_t top = 0; top < height; top += 32) {
    for (std::int64_t left = 0; left < width; left += 32) {
      std::vector<Sum> columns(32, 0);
      for (std::int64_t r = top; r < std::min(top + 32, height); ++r) {
        for (std::int64_t c = left; c < std::min(left + 32, width); ++c) {
          const Pixel x = in[static_cast<std::size_t>(r * width + c)];
          if constexpr (std::is_same_v<Pixel, float>)
            columns[static_cast<std::size_t>(c - left)] += static_cast<Sum>(x * x);
          else
            columns[static_cast<std::size_t>(c - left)] += x;
        }
      }
      cells.push_back(pairwise(columns));
    }
  }
  return pairwise(cells);
}

template <class Pixel, class Sum>
void sum(const std::string& kernel, const std::vector<Device*>& devices, std::int64_t width,
         std::int64_t height) {
  std::vector<Pixel> in(static_cast<std::size_t>(width * height));
  std::mt19937_64 random(7);
  for (Pixel& value : in) {
    if constexpr (std::is_same_v<Pixel, float>) {
      value = static_cast<float>(
          std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 100) - 110));
    } else {
      value = static_cast<Pixel>(random());
    }
  }
  std::vector<Sum> expected(1), got(1);
  const double took = milliseconds([&] { expected[0] = sum_of<Pixel, Sum>(in, width, height); }, 3);
  const std::string name = kernel + " " + std::to_string(width);
  report("g++ baseline", name, expected, expected, took);
  if constexpr (std::is_same_v<Pixel, float>) {
    Sum plain = 0;
    for (const float x : in) plain += static_cast<Sum>(x * x);
    std::printf("                 (%.17g by the rule, %.17g left to right)\n", expected[0], plain);
  }
  const int cells = static_cast<int>(((width + 31) / 32) * ((height + 31) / 32));
  for (Device* device : devices) {
    const std::uint64_t from = device->buffer(in.size() * sizeof(Pixel), in.data());
    const std::uint64_t to = device->buffer(static_cast<std::size_t>(cells) * sizeof(Sum), nullptr);
    double ms = 1e9;
    for (int i = 0; i < 5; ++i) {
      double both = device->run(kernel + "_cells", width, (height + 31) / 32, 256,
                                {from, to, static_cast<int>(width), static_cast<int>(height)});
      both += device->run(kernel + "_total", 256, 1, 256, {to, cells});
      ms = std::min(ms, both);
    }
    device->read(to, got.data(), sizeof(Sum));
    report(device->name().substr(0, 16), name, expected, got, ms);
  }
}

}  // namespace
}  // namespace spike

int main(int, char** argv) {
  using namespace spike;
  const std::string folder = argv[1], build = argv[2];
  for (const char* dialect : {"opencl", "cuda"}) {
    FILE* out = std::fopen((build + "/" + dialect + ".kernels").c_str(), "w");
    std::fputs(kernel_text(dialect, folder).c_str(), out);
    std::fclose(out);
  }
  std::vector<std::unique_ptr<Device>> owned = opencl_devices(kernel_text("opencl", folder));
  try {
    owned.push_back(cuda_device(kernel_text("cuda", folder), build + "/spike.cubin"));
  } catch (const std::exception& error) {
    std::printf("cuda: %s\n", error.what());
  }
  std::vector<Device*> devices;
  for (const auto& device : owned) {
    if (!device) continue;
    devices.push_back(device.get());
    std::printf("device: %s\n", device->name().c_str());
  }
  for (const impipe::PointBody* body : points) {
    point<float>(*body, devices);
    point<double>(*body, devices);
  }
  stencil(devices);
  sum<float, double>("sum_float", devices, 2048, 2048);
  sum<float, double>("sum_float", devices, 1003, 777);
  sum<unsigned char, std::int64_t>("sum_bytes", devices, 2048, 2048);
}
