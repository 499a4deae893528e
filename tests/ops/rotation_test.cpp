// imrotate, maps with a perspective, bicubic maps and normalised kernels of imresize against their
// definitions, pixel by pixel, in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/text.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/image.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                  PixelClass::single};
const Size sizes[] = {{1, 1}, {1, 9}, {12, 1}, {31, 17}, {40, 41}};

double keys(double x) {
  const double h = std::fabs(x);
  if (h <= 1) return (1.5 * h - 2.5) * h * h + 1;
  return h < 2 ? ((-0.5 * h + 2.5) * h - 4) * h + 2 : 0;
}

std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

struct Reading {
  std::string method;
  bool on_image = false;  // else the fill value stands for pixels outside
  double fill = 0;
};

// The image at place (x, y), not yet a pixel.
double value_at(const Image& a, int c, double x, double y, const Reading& how) {
  const double w = a.columns, h = a.rows;
  const double more = how.method == "bicubic" ? 0.5 : 0;
  if (how.on_image && !(x >= -more && x <= w - 1 + more && y >= -more && y <= h - 1 + more)) {
    return how.fill;
  }
  if (!std::isfinite(x) || !std::isfinite(y)) return how.fill;
  const auto pixel = [&](std::int64_t column, std::int64_t row) {
    if (how.on_image) {
      column = mirrored(column, a.columns);
      row = mirrored(row, a.rows);
    } else if (column < 0 || column >= a.columns || row < 0 || row >= a.rows) {
      return how.fill;
    }
    return a.at(static_cast<int>(row), static_cast<int>(column), c);
  };
  if (how.method == "nearest") {
    return pixel(static_cast<std::int64_t>(std::floor(x + 0.5)),
                 static_cast<std::int64_t>(std::floor(y + 0.5)));
  }
  const double left = std::floor(x), top = std::floor(y);
  double sum = 0;
  for (int j = -1; j <= 2; ++j) {
    for (int i = -1; i <= 2; ++i) {
      const double dx = x - (left + i), dy = y - (top + j);
      const double weight = how.method == "bicubic" ? keys(dx) * keys(dy)
                                                    : std::max(0.0, 1 - std::fabs(dx)) *
                                                          std::max(0.0, 1 - std::fabs(dy));
      if (weight != 0) {
        sum +=
            weight * pixel(static_cast<std::int64_t>(left) + i, static_cast<std::int64_t>(top) + j);
      }
    }
  }
  return sum;
}

double as_pixel(PixelClass cls, double v) {
  if (cls == PixelClass::single) return static_cast<float>(v);
  if (cls == PixelClass::logical) return v >= 0.5 ? 1 : 0;
  return std::floor(std::clamp(v, 0.0, class_max(cls)) + 0.5);
}

using Place = std::function<std::pair<double, double>(double column, double row)>;

Image mapped(const Image& a, Size size, const Reading& how, const Place& place) {
  Image out = a;
  out.rows = static_cast<int>(size.height);
  out.columns = static_cast<int>(size.width);
  out.values.assign(static_cast<std::size_t>(size.pixels()) * a.channels, 0);
  for (int row = 0; row < out.rows; ++row) {
    for (int column = 0; column < out.columns; ++column) {
      const auto [x, y] = place(column, row);
      for (int c = 0; c < a.channels; ++c) {
        out.at(row, column, c) = as_pixel(a.cls, value_at(a, c, x, y, how));
      }
    }
  }
  return out;
}

double tolerance_of(PixelClass cls) { return cls == PixelClass::single ? 4e-6 : 0; }

TEST(Imrotate, IsTheDefinition) {
  std::uint64_t seed = 500;
  for (const PixelClass cls : classes) {
    for (const Size size : sizes) {
      const HostImage image = test::test_image(cls, ++seed % 2 == 0 ? 3 : 1, size, 7);
      const Image a = reference::from_host(image);
      for (const double angle : {37.0, -17.5, 200.25, 91.0}) {
        const double t = angle * std::numbers::pi / 180, c = std::cos(t), s = std::sin(t);
        const double w = static_cast<double>(size.width - 1),
                     h = static_cast<double>(size.height - 1);
        for (const std::string bbox : {"loose", "crop"}) {
          Size to = size;
          if (bbox == "loose") {
            to = {static_cast<std::int64_t>(std::round(w * std::fabs(c) + h * std::fabs(s))) + 1,
                  static_cast<std::int64_t>(std::round(w * std::fabs(s) + h * std::fabs(c))) + 1};
          }
          for (const std::string method : {"nearest", "bilinear", "bicubic"}) {
            const Image wanted = mapped(a, to, {method, true, 1}, [&](double column, double row) {
              const double x = column - static_cast<double>(to.width - 1) / 2;
              const double y = row - static_cast<double>(to.height - 1) / 2;
              return std::pair{c * x - s * y + w / 2, s * x + c * y + h / 2};
            });
            const std::string text =
                "imrotate " + number_text(angle) + " " + method + " " + bbox + " fill=1";
            EXPECT_EQ(test::difference(wanted, run(text, image).image, tolerance_of(cls), 0.02), "")
                << text << " of " << test::describe(image);
          }
        }
      }
    }
  }
}

TEST(Imrotate, JustBelowAHalfIsNoPixel) {
  // The sine of 30 degrees is 0.49999999999999994 in double.
  const HostImage image = test::test_image(PixelClass::uint8, 1, {1, 2}, 1);
  EXPECT_EQ(run("imrotate 30", image).image.size(), (Size{1, 2}));
}

TEST(Imrotate, QuarterTurnsMovePixels) {
  for (const Size size : sizes) {
    const HostImage image = test::test_image(PixelClass::single, 3, size, 7);
    for (const std::string method : {"nearest", "bilinear", "bicubic"}) {
      EXPECT_EQ(
          test::difference(run("rot90", image).image, run("imrotate 90 " + method, image).image),
          "");
      EXPECT_EQ(test::difference(run("rot90 -1", image).image,
                                 run("imrotate 630 " + method, image).image),
                "");
      EXPECT_EQ(test::difference(run("rot90 2", image).image,
                                 run("imrotate -180 crop " + method, image).image),
                "");
      EXPECT_EQ(test::difference(image, run("imrotate 360 crop " + method, image).image), "");
    }
  }
  const HostImage square = test::test_image(PixelClass::uint8, 1, {17, 17}, 7);
  EXPECT_EQ(
      test::difference(run("rot90", square).image, run("imrotate 90 crop bicubic", square).image),
      "");
}

TEST(Imwarp, OfAPerspectiveAndBicubic) {
  std::uint64_t seed = 700;
  for (const PixelClass cls : classes) {
    for (const Size size : sizes) {
      const HostImage image = test::test_image(cls, 1, size, ++seed);
      const Image a = reference::from_host(image);
      for (const std::string method : {"nearest", "bilinear", "bicubic"}) {
        // The inverse of [1 0.23 2; 0 0.51 1; 0 0.06 1], by hand.
        const Place back = [](double u, double v) {
          const double y = (v - 1) / (0.51 - 0.06 * v), scale = 0.06 * y + 1;
          return std::pair{u * scale - 0.23 * y - 2, y};
        };
        const std::string text = "imwarp [1 0.23 2; 0 0.51 1; 0 0.06 1] fill=1 " + method;
        EXPECT_EQ(test::difference(mapped(a, size, {method, false, 1}, back),
                                   run(text, image).image, tolerance_of(cls), 0.02),
                  "")
            << text << " of " << test::describe(image);
      }
    }
  }
}

TEST(Imwarp, GrowsToFit) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 9);
  // The outlines of 31 x 17 pixels turned by 30 degrees: 35.35 x 30.22.
  EXPECT_EQ(run("imwarp rotate=30 view=full", image).image.size(), (Size{36, 31}));
  // Whole moves and scales keep every pixel.
  EXPECT_EQ(test::difference(image, run("imwarp [1 0 40; 0 1 -7] view=full", image).image), "");
  EXPECT_EQ(test::difference(run("imresize 2 nearest", image).image,
                             run("imwarp scale=2 nearest view=full", image).image),
            "");
  EXPECT_EQ(test::difference(run("fliplr", image).image,
                             run("imwarp [-1 0 0; 0 1 0] view=full", image).image),
            "");
}

// Sums over all pixels that the kernel reaches, of the mirrored image.
Image resized(const Image& a, Size to, const std::string& method, bool antialias) {
  const double lobes = method == "lanczos2" ? 2 : method == "lanczos3" ? 3 : 0.5;
  const auto kernel = [&](double x) {
    if (lobes == 0.5) return x >= -0.5 && x < 0.5 ? 1.0 : 0.0;
    if (std::fabs(x) >= lobes) return 0.0;
    constexpr double eps = 0x1p-52, pi = std::numbers::pi;
    return (std::sin(pi * x) * std::sin(pi * x / lobes) + eps) / (pi * pi * x * x / lobes + eps);
  };
  const auto weights = [&](std::int64_t from, std::int64_t out, std::int64_t k) {
    std::vector<double> all(static_cast<std::size_t>(from));
    const double scale = static_cast<double>(out) / static_cast<double>(from);
    if (scale == 1) {
      all[static_cast<std::size_t>(k)] = 1;
      return all;
    }
    const double narrow = antialias ? std::min(scale, 1.0) : 1;
    const double place = static_cast<double>(k + 1) / scale + (1 - 1 / scale) / 2 - 1;  // from 0
    const auto reach = static_cast<std::int64_t>(std::ceil(lobes / narrow)) + 1;
    double sum = 0;
    for (auto i = static_cast<std::int64_t>(std::floor(place)) - reach;
         i <= static_cast<std::int64_t>(place) + reach; ++i) {
      const double w = kernel(narrow * (place - static_cast<double>(i)));
      all[static_cast<std::size_t>(mirrored(i, from))] += w;
      sum += w;
    }
    for (double& w : all) w /= sum;
    return all;
  };
  Image out = a;
  out.rows = static_cast<int>(to.height);
  out.columns = static_cast<int>(to.width);
  out.values.assign(static_cast<std::size_t>(to.pixels()) * a.channels, 0);
  for (int row = 0; row < out.rows; ++row) {
    const auto down = weights(a.rows, out.rows, row);
    for (int column = 0; column < out.columns; ++column) {
      const auto across = weights(a.columns, out.columns, column);
      for (int c = 0; c < a.channels; ++c) {
        double sum = 0;
        for (int y = 0; y < a.rows; ++y) {
          for (int x = 0; x < a.columns; ++x) sum += down[y] * across[x] * a.at(y, x, c);
        }
        out.at(row, column, c) = as_pixel(a.cls, sum);
      }
    }
  }
  return out;
}

TEST(Imresize, NormalisesLanczosAndBox) {
  std::uint64_t seed = 900;
  for (const PixelClass cls : classes) {
    for (const Size size : {Size{1, 1}, Size{9, 1}, Size{31, 17}}) {
      const HostImage image = test::test_image(cls, 1, size, ++seed);
      const Image a = reference::from_host(image);
      for (const std::string method : {"lanczos2", "lanczos3", "box"}) {
        // Means of a few whole numbers are often halves.
        if (method == "box" && cls == PixelClass::logical) continue;
        const double allowed = method == "box" ? 0.3 : 0.03;
        for (const Size to : {Size{40, 23}, Size{7, 5}, Size{31, 3}}) {
          for (const bool antialias : {true, false}) {
            const std::string text = "imresize [" + std::to_string(to.height) + " " +
                                     std::to_string(to.width) + "] " + method +
                                     (antialias ? "" : " antialiasing=off");
            EXPECT_EQ(test::difference(resized(a, to, method, antialias), run(text, image).image,
                                       tolerance_of(cls), allowed),
                      "")
                << text << " of " << test::describe(image);
          }
        }
      }
    }
  }
}

TEST(Imresize, NearestIsAntialiasedWhereThatIsWritten) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {32, 18}, 3);
  const HostImage means = run("imresize 0.5 nearest antialiasing=on", image).image;
  EXPECT_EQ(test::difference(means, run("imresize 0.5 box", image).image), "");
  const Image a = reference::from_host(image), b = reference::from_host(means);
  EXPECT_EQ(b.at(2, 3, 1),
            std::floor((a.at(4, 6, 1) + a.at(4, 7, 1) + a.at(5, 6, 1) + a.at(5, 7, 1)) / 4 + 0.5));
  EXPECT_NE(test::difference(means, run("imresize 0.5 nearest", image).image), "");
}

TEST(Imresize, NanKeepsTheShape) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {64, 33}, 3);
  const HostImage wanted = run("imresize size=20,0", image).image;
  EXPECT_EQ(test::difference(wanted, run("imresize size=20,NaN", image).image), "");
  // Two whole numbers above 16 are no factors.
  EXPECT_EQ(
      test::difference(run("imresize size=20,31", image).image, run("imresize 20 31", image).image),
      "");
  EXPECT_EQ(test::difference(wanted, run("imresize [20 nan]", image).image), "");
  for (const char* pair : {"imresize 20 NaN", "imresize 20,NaN", "imresize scale=20,nan"}) {
    EXPECT_EQ(test::difference(wanted, run(pair, image).image), "") << pair;
  }
  // Whole numbers of any size, beside NaN, are pixels.
  EXPECT_EQ(test::difference(run("imresize size=0,8", image).image,
                             run("imresize NaN 8 bicubic", image).image),
            "");
  for (const char* wrong : {"imresize NaN", "imresize NaN NaN", "imresize 20.5 NaN"}) {
    EXPECT_NE(test::error_of(wrong, image).find("NaN stands for one of two sides"),
              std::string::npos)
        << wrong;
  }
  EXPECT_NE(test::error_of("imresize [NaN NaN]", image).find("one of the two must be above 0"),
            std::string::npos);
  EXPECT_NE(test::error_of("conv2 [1 NaN]", image).find("the numbers of a matrix are finite"),
            std::string::npos);
}

}  // namespace
}  // namespace impipe
