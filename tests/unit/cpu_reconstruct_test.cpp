// Reconstruction and gray holes on every instruction set against values that spread one by one,
// over sizes that are cut into strips and parts.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <queue>

#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

using Kind = Label::Kind;
using Content = std::function<double(std::int64_t x, std::int64_t y)>;

constexpr double nothing = -HUGE_VAL;  // in the place of NaN, which is below all

SpecResult drawn(PixelClass cls, Size size, const Content& content) {
  std::mt19937 random(1);
  SpecResult out = random_image(random, cls, 1, size, false);
  for (std::int64_t i = 0; i < size.width * size.height; ++i) {
    out.image.values[static_cast<std::size_t>(i)] = content(i % size.width, i / size.width);
  }
  return out;
}

// From the largest value down each pixel raises its neighbours up to the mask.
std::vector<double> spread(std::vector<double> values, const std::vector<double>& mask, Size size,
                           bool corners) {
  std::priority_queue<std::pair<double, std::int64_t>> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::min(values[i], mask[i]);
    places.emplace(values[i], i);
  }
  while (!places.empty()) {
    const auto [value, place] = places.top();
    places.pop();
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        const std::int64_t x = place % size.width + dx, y = place / size.width + dy;
        if (x < 0 || x >= size.width || y < 0 || y >= size.height) continue;
        if (!corners && dx != 0 && dy != 0) continue;
        const auto next = static_cast<std::size_t>(y * size.width + x);
        const double raised = std::min(value, mask[next]);
        if (!(raised > values[next])) continue;
        values[next] = raised;
        places.emplace(raised, next);
      }
    }
  }
  return values;
}

std::vector<double> ordered(const SpecResult& image) {
  std::vector<double> out;
  for (const double v : image.image.values) out.push_back(std::isnan(v) ? nothing : v);
  return out;
}

void expect_spread(const SpecResult& marker, const SpecResult& mask, int connectivity) {
  const PixelClass cls = mask.image.cls;
  const Size size{mask.image.width, mask.image.height};
  SpecBuilder b;
  const Operand from = b.input(cls, 1), most = b.input(cls, 1);
  const Operand out = b.add(Label{Kind::reconstruct, connectivity}, {from, most}, {}, cls, 1);
  const KernelSpec spec = b.finish({out});
  const std::vector<double> wanted =
      spread(ordered(marker), ordered(mask), size, connectivity == 8);
  for (const CpuLevel level : usable_levels()) {
    for (const int threads : {1, 3}) {
      const SpecResult made = run_spec(spec, {marker, mask}, level, threads)[0];
      ASSERT_EQ(ordered(made), wanted)
          << name_of(cls) << " of " << to_string(size) << ", conn " << connectivity << ", level "
          << static_cast<int>(level) << ", " << threads << " threads";
    }
  }
}

void expect_holes_filled(const SpecResult& image, int connectivity) {
  const PixelClass cls = image.image.cls;
  const Size size{image.image.width, image.image.height};
  SpecBuilder b;
  const Operand in = b.input(cls, 1);
  const Operand out = b.add(Label{Kind::holes, connectivity}, {in}, {}, cls, 1);
  const KernelSpec spec = b.finish({out});
  std::vector<double> mask, marker;
  for (std::int64_t i = 0; i < size.width * size.height; ++i) {
    const double v = image.image.values[static_cast<std::size_t>(i)];
    mask.push_back(std::isnan(v) ? nothing : -v);
    const std::int64_t x = i % size.width, y = i / size.width;
    const bool border = x == 0 || y == 0 || x == size.width - 1 || y == size.height - 1;
    marker.push_back(border ? mask.back() : nothing);
  }
  std::vector<double> wanted = spread(marker, mask, size, connectivity == 8);
  for (double& v : wanted) v = v == nothing ? nothing : 0 - v;
  for (const CpuLevel level : usable_levels()) {
    for (const int threads : {1, 3}) {
      ASSERT_EQ(ordered(run_spec(spec, {image}, level, threads)[0]), wanted)
          << name_of(cls) << " of " << to_string(size) << ", conn " << connectivity << ", level "
          << static_cast<int>(level) << ", " << threads << " threads";
    }
  }
}

// Heights from 0 to 1: noise; rings with a gap each, through which one long way leads; hills; and a
// few that are larger by far than all others.
std::vector<Content> contents(Size size) {
  const auto random = std::make_shared<std::mt19937>(3);
  const auto noise = [random](std::int64_t, std::int64_t) {
    return std::uniform_real_distribution(0.0, 1.0)(*random);
  };
  const auto maze = [size, noise](std::int64_t x, std::int64_t y) {
    const std::int64_t ring =
        std::min(std::min(x, size.width - 1 - x), std::min(y, size.height - 1 - y));
    const bool gap = y == size.height / 2 && (ring / 2 % 2 == 0) == (x < size.width / 2);
    return (ring % 2 == 0 || gap ? 0.7 : 0.1) + 0.2 * noise(x, y);
  };
  const auto hills = [noise](std::int64_t x, std::int64_t y) {
    return 0.5 +
           0.3 * std::sin(0.2 * static_cast<double>(x)) * std::cos(0.11 * static_cast<double>(y)) +
           0.1 * noise(x, y);
  };
  const auto towers = [noise](std::int64_t x, std::int64_t y) {
    return (x * 7 + y * 13) % 37 == 0 ? 1.0 : 1e-3 * noise(x, y);
  };
  return {noise, maze, hills, towers};
}

TEST(CpuReconstruct, SpreadsUpToTheMask) {
  for (const Size size : {Size{1, 1}, Size{70, 3}, Size{3, 600}, Size{131, 820}}) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      for (const Content& content : contents(size)) {
        // Below 0, NaN and very large ones among the floats.
        int count = 0;
        const auto pixel = [&](double v) {
          if (cls != PixelClass::single) return std::round(v * class_max(cls));
          ++count;
          if (count % 997 == 0) return std::nan("");
          if (count % 1009 == 0) return count % 2 == 0 ? 0x1p100 : -0x1p99;
          return static_cast<double>(static_cast<float>((v - 0.5) * (v == 1 ? 1e30 : 1)));
        };
        const SpecResult mask =
            drawn(cls, size, [&](auto x, auto y) { return pixel(content(x, y)); });
        const SpecResult few = drawn(cls, size, [&](auto x, auto y) {
          return pixel((x * 31 + y * 17) % 1501 == 0 ? 1 : 0.0);
        });
        SpecResult lower = mask;
        for (double& v : lower.image.values) {
          v = cls == PixelClass::single ? static_cast<double>(static_cast<float>(v) - 0.1f)
                                        : std::max(0.0, v - class_max(cls) / 17);
        }
        for (const int connectivity : {4, 8}) {
          expect_spread(few, mask, connectivity);
          expect_spread(lower, mask, connectivity);
          expect_holes_filled(mask, connectivity);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
