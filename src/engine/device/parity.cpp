// The parity probe: five short pipelines on both devices, and a comparison of every bit.
#include "engine/device/parity.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "backends/registry.hpp"
#include "engine/program/executor.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"

namespace impipe::engine {
namespace {

// Raised when the probe or the way kernels are made changes, so that old verdicts do not count.
constexpr const char* parity_version = "parity probe 2";

enum class Values { codes, ordinary, denormal, large_codes };

struct Probe {
  const char* name;
  const char* pipeline;
  PixelClass cls;
  Size size;
  Values values;
};

constexpr Probe probes[] = {
    // Every second code times a half lies between two integers.
    {"rounding", "imlincomb 0.5", PixelClass::uint8, {256, 4}, Values::codes},
    {"division and square root",
     "map '1 / x + sqrt(abs(x)) / 3'",
     PixelClass::single,
     {512, 64},
     Values::ordinary},
    {"fma and contraction",
     "map 'x * x - 0.1 * x' | imfilter [1 2 3; 4 5 6; 7 8 10]/46",
     PixelClass::single,
     {512, 64},
     Values::ordinary},
    {"denormals", "map 'x * 0.5 + x'", PixelClass::single, {512, 4}, Values::denormal},
    // The sum is about 2^36.
    {"64-bit sums", "sum", PixelClass::uint16, {1024, 1024}, Values::large_codes},
};

template <class T, class Make>
void fill(Plane& plane, Make make) {
  std::uint32_t state = 1;
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    T* row = plane.row_as<T>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      state = state * 1664525u + 1013904223u;
      row[x] = make(x, state >> 8);  // 24 random bits
    }
  }
}

HostImage image_for(const Probe& probe) {
  HostImage image({.cls = probe.cls, .white = class_max(probe.cls)}, probe.size);
  switch (probe.values) {
    case Values::codes:
      fill<std::uint8_t>(image.planes.front(), [](std::int64_t x, std::uint32_t) {
        return static_cast<std::uint8_t>(x);
      });
      break;
    case Values::large_codes:
      fill<std::uint16_t>(image.planes.front(), [](std::int64_t, std::uint32_t bits) {
        return static_cast<std::uint16_t>(65535 - bits % 7);
      });
      break;
    case Values::ordinary:
      fill<float>(image.planes.front(), [](std::int64_t, std::uint32_t bits) {
        return std::ldexp(static_cast<float>(bits) - 8e6f, -20);
      });
      break;
    case Values::denormal:
      fill<float>(image.planes.front(),
                  [](std::int64_t, std::uint32_t bits) { return std::bit_cast<float>(bits >> 2); });
      break;
  }
  return image;
}

Outcome compute(const Probe& probe, Device& device) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(probe.pipeline));
  HostImage image = image_for(probe);
  Plan lowered = pipeline::lower(pipeline, image.type);
  Plan plan = pipeline::fuse(lowered, device.nests_neighbourhoods());
  Program program = make_program(pipeline, std::move(lowered), std::move(plan));
  for (const PlaneKernel& kernel : program.planes) {
    std::promise<std::shared_ptr<const Kernel>> made;
    made.set_value(device.prepare(kernel.spec));
    program.kernels.push_back(made.get_future().share());
  }
  const auto queue = device.make_queue();
  return execute(program, {.image = std::move(image), .operands = {}}, *queue);
}

bool same_pixels(const Plane& p, const Plane& q) {
  if (p.size() != q.size() || p.cls() != q.cls()) return false;
  for (std::int64_t y = 0; y < p.size().height; ++y) {
    if (std::memcmp(p.row(y), q.row(y), static_cast<std::size_t>(p.row_bytes())) != 0) return false;
  }
  return true;
}

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

}  // namespace

bool same_bits(const Outcome& a, const Outcome& b) {
  const Planes &p = a.image.planes, &q = b.image.planes;
  const auto &m = a.measurements, &n = b.measurements;
  return std::equal(p.begin(), p.end(), q.begin(), q.end(), same_pixels) &&
         std::equal(m.begin(), m.end(), n.begin(), n.end(),
                    [](const Measurement& one, const Measurement& other) {
                      return same_numbers(one.numbers, other.numbers);
                    });
}

std::string parity_failure(Device& device, ThreadPool& pool) {
  VerdictKey key{.question = parity_version,
                 .device = device.info().id + " " + device.info().name,
                 .driver = device.info().driver};
  for (const Probe& probe : probes) key.question += std::string("\n") + probe.pipeline;
  if (const auto known = backends::known_verdict(key)) return *known;
  const auto cpu = backends::find_backend("cpu")->open(0, pool);
  std::string wrong;
  for (const Probe& probe : probes) {
    if (same_bits(compute(probe, *cpu), compute(probe, device))) continue;
    wrong += (wrong.empty() ? "" : ", ") + std::string(probe.name);
  }
  backends::keep_verdict(key, wrong,
                         "verdict on " + key.device + ", " + key.driver +
                             (wrong.empty() ? ": the CPU's bits" : ": wrong " + wrong));
  return wrong;
}

}  // namespace impipe::engine
