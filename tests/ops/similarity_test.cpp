// ssim against its definition in double, where variances are small beside the values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/pipeline_runner.hpp"
#include "support/reference/image.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

struct Window {
  int reach = 0;
  std::vector<double> weights;
};

Window gaussian(double radius) {
  Window out{static_cast<int>(std::ceil(3 * radius)), {}};
  double sum = 0;
  for (int t = -out.reach; t <= out.reach; ++t) {
    out.weights.push_back(std::exp(-t * t / (2 * radius * radius)));
    sum += out.weights.back();
  }
  for (double& weight : out.weights) weight /= sum;
  return out;
}

// The mean under the window of what `value` gives for a pixel; the nearest one outside.
double mean_under(const Window& window, Size size, std::int64_t x, std::int64_t y,
                  const std::function<double(std::int64_t, std::int64_t)>& value) {
  double sum = 0;
  for (int j = -window.reach; j <= window.reach; ++j) {
    const std::int64_t row = std::clamp<std::int64_t>(y + j, 0, size.height - 1);
    double line = 0;
    for (int i = -window.reach; i <= window.reach; ++i) {
      const std::int64_t column = std::clamp<std::int64_t>(x + i, 0, size.width - 1);
      line += window.weights[static_cast<std::size_t>(i + window.reach)] * value(column, row);
    }
    sum += window.weights[static_cast<std::size_t>(j + window.reach)] * line;
  }
  return sum;
}

double defined_similarity(const HostImage& first, const HostImage& second, double radius) {
  const reference::Image a = reference::from_host(first), b = reference::from_host(second);
  const Size size = first.size();
  const Window window = gaussian(radius);
  const double c1 = std::pow(0.01 * a.white, 2), c2 = std::pow(0.03 * a.white, 2);
  double sum = 0;
  for (int c = 0; c < a.channels; ++c) {
    const auto at = [&](const reference::Image& of) {
      return [&of, c, width = size.width](std::int64_t x, std::int64_t y) {
        return of.values[static_cast<std::size_t>((y * width + x) * of.channels + c)];
      };
    };
    const auto x_at = at(a), y_at = at(b);
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        const auto mean = [&](auto&& value) { return mean_under(window, size, x, y, value); };
        const double mx = mean(x_at), my = mean(y_at);
        const double xx = mean([&](auto i, auto j) { return std::pow(x_at(i, j) - mx, 2); });
        const double yy = mean([&](auto i, auto j) { return std::pow(y_at(i, j) - my, 2); });
        const double xy =
            mean([&](auto i, auto j) { return (x_at(i, j) - mx) * (y_at(i, j) - my); });
        sum += (2 * mx * my + c1) * (2 * xy + c2) / ((mx * mx + my * my + c1) * (xx + yy + c2));
      }
    }
  }
  return sum / (static_cast<double>(size.width * size.height) * a.channels);
}

// Parts of white.
using Content = std::function<double(std::int64_t x, std::int64_t y)>;

HostImage image_of(PixelClass cls, int channels, Size size, const Content& content) {
  HostImage out = test::test_image(cls, channels, size, 1);
  const double white = out.type.white;
  for (Plane& plane : out.planes) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        const double value = std::clamp(content(x, y), 0.0, 1.0) * white;
        switch (cls) {
          case PixelClass::single: plane.row_as<float>(y)[x] = static_cast<float>(value); break;
          case PixelClass::uint16:
            plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(std::lround(value));
            break;
          default: plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(std::lround(value));
        }
      }
    }
  }
  return out;
}

struct Contents {
  const char* name;
  Content first, second;
};

std::vector<Contents> contents() {
  const auto noise = [](double middle, double size, unsigned seed) {
    return [middle, size, random = std::make_shared<std::mt19937>(seed)](auto, auto) {
      return middle + size * (std::uniform_real_distribution<double>(-1, 1)(*random));
    };
  };
  const auto level = [](double v) { return [v](auto, auto) { return v; }; };
  const auto halves = [](double low, double high) {
    return [low, high](auto x, auto) { return x < 9 ? high : low; };
  };
  const auto waves = [](double phase) {
    return [phase](auto x, auto y) {
      return 0.5 + 0.4 * std::sin(static_cast<double>(x) / 5 + static_cast<double>(y) / 9 + phase);
    };
  };
  return {{"level", level(0.5), level(0.51)},
          {"white", level(1), level(1)},
          {"nearly white", level(1), level(254.0 / 255)},
          {"black", level(0), level(1.0 / 255)},
          {"nearly level", noise(0.5, 1e-4, 1), noise(0.5, 1e-4, 2)},
          {"nearly light", noise(0.9, 4e-3, 3), noise(0.9, 4e-3, 4)},
          {"halves", halves(0, 1), halves(0.005, 0.99)},
          {"stripes", [](auto x, auto) { return x % 2 * 1.0; },
           [](auto x, auto) { return x % 2 * 0.98; }},
          {"noise", noise(0.5, 0.5, 5), noise(0.5, 0.5, 6)},
          {"waves", waves(0), waves(0.1)}};
}

// A fiftieth of what is allowed, of results in float32 that are averaged.
constexpr double allowed = 2e-7;

TEST(Ssim, IsThatOfTheDefinition) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Contents& c : contents()) {
      for (const double radius : {0.01, 0.34, 1.01, 1.5, 5.0}) {
        for (const Size size : {Size{1, 1}, Size{19, 14}}) {
          if (radius > 2 && size.width > 1 && cls != PixelClass::uint8) continue;
          const HostImage a = image_of(cls, 1, size, c.first), b = image_of(cls, 1, size, c.second);
          const test::Ran ran =
              test::run("ssim :b radius=" + std::to_string(radius), a, {{"b", b}});
          EXPECT_NEAR(ran.columns.at(0), defined_similarity(a, b, radius), allowed)
              << c.name << ", radius " << radius << ", " << test::describe(a);
        }
      }
    }
  }
}

TEST(Ssim, IsTheMeanOfAllChannels) {
  for (const PixelClass cls : {PixelClass::logical, PixelClass::uint16}) {
    const HostImage a = test::test_image(cls, 3, {23, 17}, 5),
                    b = test::test_image(cls, 3, {23, 17}, 6);
    EXPECT_NEAR(test::run("ssim :b", a, {{"b", b}}).columns.at(0), defined_similarity(a, b, 1.5),
                allowed);
  }
}

TEST(Ssim, HasTheSameBitsEverywhere) {
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const char* text : {"ssim :b", "ssim :b 0.4", "ssim :b 5"}) {
      const HostImage a = test::test_image(cls, 1, {301, 75}, 5),
                      b = test::test_image(cls, 1, {301, 75}, 6);
      const double expected =
          test::run(text, a, {{"b", b}}, {.level = CpuLevel::baseline}).columns.at(0);
      for (const CpuLevel level : {CpuLevel::v3, CpuLevel::v4}) {
        if (!test::has_level(level)) continue;
        EXPECT_EQ(test::run(text, a, {{"b", b}}, {.level = level}).columns.at(0), expected) << text;
      }
      for (const char* backend : {"opencl", "cuda"}) {
        if (!test::has_device(backend)) continue;
        EXPECT_EQ(test::run(text, a, {{"b", b}}, {.backend = backend}).columns.at(0), expected)
            << text << " by " << backend;
      }
    }
  }
}

}  // namespace
}  // namespace impipe
