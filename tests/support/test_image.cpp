// Images for tests and their comparison.
#include "support/test_image.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace impipe::test {
namespace {

double unit_value(std::mt19937_64& random, int r, int c, int k, Size size) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto [w, h] = size;
  const int region = (r / 5 + c / 7 + k) % 4;
  if (region == 0) return (r + c) / static_cast<double>(w + h);  // a ramp
  if (region == 1) return ((r / 3 + c / 2) % 3) / 2.0;           // plateaus
  if (region == 2) return u < 0.5 ? 0.25 : u;                    // noise with repeats
  return u;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

bool same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance;
}

}  // namespace

HostImage test_image(PixelClass cls, int channels, Size size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  reference::Image out(cls, class_max(cls), static_cast<int>(size.height),
                       static_cast<int>(size.width), channels);
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.columns; ++c) {
      for (int k = 0; k < channels; ++k) {
        const double u = unit_value(random, r, c, k, size);
        out.at(r, c, k) = cls == PixelClass::logical  ? (u > 0.5 ? 1 : 0)
                          : cls == PixelClass::single ? static_cast<float>(u * 1.4 - 0.2)
                                                      : std::floor(u * class_max(cls) + 0.5);
      }
    }
  }
  return reference::to_host(out);
}

HostImage test_image_with_specials(int channels, Size size, std::uint64_t seed) {
  HostImage out = test_image(PixelClass::single, channels, size, seed);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -0.0f};
  std::mt19937_64 random(seed + 1);
  for (std::int64_t r = 0; r < size.height; ++r) {
    for (std::int64_t i = 0; i < size.width * channels; ++i) {
      if (random() % 11 != 0) continue;
      out.planes[static_cast<size_t>(i % channels)].row_as<float>(r)[i / channels] =
          specials[random() % 4];
    }
  }
  return out;
}

std::string difference(const reference::Image& expected, const HostImage& host, double tolerance,
                       double allowed) {
  const reference::Image got = reference::from_host(host);
  const auto kind = [](const reference::Image& i) {
    return std::string(name_of(i.cls)) + " " + std::to_string(i.rows) + "x" +
           std::to_string(i.columns) + "x" + std::to_string(i.channels) + " white " +
           number(i.white);
  };
  if (kind(expected) != kind(got)) return "expected " + kind(expected) + ", got " + kind(got);
  std::string first;
  size_t wrong = 0;
  for (size_t i = 0; i < got.values.size(); ++i) {
    if (same(expected.values[i], got.values[i], tolerance)) continue;
    ++wrong;
    if (std::fabs(expected.values[i] - got.values[i]) > 1) allowed = 0;  // no tie
    if (!first.empty()) continue;
    const size_t pixel = i / got.channels;
    first = "row " + std::to_string(pixel / got.columns) + " column " +
            std::to_string(pixel % got.columns) + " channel " + std::to_string(i % got.channels) +
            ": expected " + number(expected.values[i]) + ", got " + number(got.values[i]);
  }
  if (static_cast<double>(wrong) <= allowed * static_cast<double>(got.values.size())) return "";
  return std::to_string(wrong) + " of " + std::to_string(got.values.size()) + " wrong; " + first;
}

std::string difference(const HostImage& expected, const HostImage& got) {
  if (!(expected.type == got.type)) {
    return "expected " + to_string(expected.type) + ", got " + to_string(got.type);
  }
  const auto compare = [](const Plane& a, const Plane& b, const char* what) -> std::string {
    if (!(a.size() == b.size())) {
      return std::string(what) + ": expected " + to_string(a.size()) + ", got " +
             to_string(b.size());
    }
    for (std::int64_t r = 0; r < a.size().height; ++r) {
      const std::int64_t bytes = bytes_of(a.cls());
      for (std::int64_t i = 0; i < a.row_bytes(); i += bytes) {
        if (std::equal(a.row(r) + i, a.row(r) + i + bytes, b.row(r) + i)) continue;
        // A NaN's sign and payload are nobody's result, nor which of two zeros is the larger one.
        if (a.cls() == PixelClass::single) {
          const float x = a.row_as<float>(r)[i / bytes], y = b.row_as<float>(r)[i / bytes];
          if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        }
        return std::string(what) + " differ first in row " + std::to_string(r) + " column " +
               std::to_string(i / bytes);
      }
    }
    return "";
  };
  for (size_t c = 0; c < expected.planes.size(); ++c) {
    const std::string text = compare(expected.planes[c], got.planes[c], "pixels");
    if (!text.empty()) return text;
  }
  if (expected.type.alpha) return compare(expected.alpha, got.alpha, "alpha");
  return "";
}

std::string describe(const HostImage& image) {
  return to_string(image.type) + ", " + to_string(image.size());
}

}  // namespace impipe::test
