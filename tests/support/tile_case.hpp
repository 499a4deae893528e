// Runs a native-class neighbourhood kernel of the CPU over a whole small image, as one tile with
// guard bands round it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/tile/neighbourhood.hpp"
#include "support/reference/morphology.hpp"

namespace impipe::testing {

inline std::vector<CpuLevel> levels_here() {
  std::vector<CpuLevel> levels{CpuLevel::baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v3")) levels.push_back(CpuLevel::v3);
  if (__builtin_cpu_supports("x86-64-v4")) levels.push_back(CpuLevel::v4);
#endif
  return levels;
}

// The value that takes no part in an extremum.
inline double nothing_of(PixelClass cls, bool largest) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (cls == PixelClass::single) return largest ? -infinity : infinity;
  return largest ? 0 : class_max(cls) == 1 ? 1 : class_max(cls);
}

// Few different values in some images, so that ties are common.
inline reference::Pixels random_pixels(std::mt19937& random, PixelClass cls, std::int64_t width,
                                       std::int64_t height, bool with_nan) {
  reference::Pixels pixels{.width = width, .height = height, .channels = 1, .values = {}};
  const bool few = random() % 3 == 0;
  for (std::int64_t i = 0; i < width * height; ++i) {
    const unsigned bits = static_cast<unsigned>(random());
    double value = 0;
    switch (cls) {
      case PixelClass::logical: value = bits % 2; break;
      case PixelClass::uint8: value = few ? bits % 4 : bits % 256; break;
      case PixelClass::uint16: value = few ? bits % 300 : bits % 65536; break;
      case PixelClass::single:
        value = few ? bits % 5 - 2.0 : static_cast<float>(bits) / 1e6f - 2000.0f;
        if (with_nan && bits % 7 == 0) value = std::numeric_limits<double>::quiet_NaN();
        break;
    }
    pixels.values.push_back(value);
  }
  return pixels;
}

// `outside(x, y, c)` gives the values round the image; `kernel(view, out)` runs the tile. With
// `absent` the view leaves out what is to the left and right of the image.
template <class T, class Outside, class Kernel>
reference::Pixels run_tile(const reference::Pixels& in, const Mask& mask, Outside outside,
                           Kernel kernel, bool absent = false) {
  const Footprint reach = mask.footprint();
  const std::int64_t wide = in.width + reach.left + reach.right;
  const std::int64_t tall = in.height + reach.up + reach.down;
  // Rows in memory of their own, so that a sanitizer sees any read past an end.
  std::vector<std::vector<T>> rows(static_cast<std::size_t>(tall));
  std::vector<const std::byte*> starts;
  for (std::int64_t y = 0; y < tall; ++y) {
    std::vector<T>& row = rows[static_cast<std::size_t>(y)];
    for (std::int64_t x = 0; x < wide; ++x) {
      const std::int64_t from_x = x - reach.left, from_y = y - reach.up;
      if (absent && (from_x < 0 || from_x >= in.width)) continue;
      const bool inside = from_x >= 0 && from_x < in.width && from_y >= 0 && from_y < in.height;
      row.push_back(static_cast<T>(inside ? in.at(from_x, from_y, 0) : outside(from_x, from_y, 0)));
    }
    starts.push_back(reinterpret_cast<const std::byte*>(row.data() + (absent ? 0 : reach.left)));
  }
  const std::int64_t guard = 5, stride = in.width + guard;
  const T canary = static_cast<T>(77);
  std::vector<T> result(static_cast<std::size_t>(stride * in.height + guard), canary);
  kernel(cpu::RowsView{.rows = starts.data(),
                       .width = in.width,
                       .height = in.height,
                       .absent_left = absent ? reach.left : 0,
                       .absent_right = absent ? reach.right : 0},
         cpu::TileOut{.data = reinterpret_cast<std::byte*>(result.data()),
                      .stride = stride * static_cast<std::int64_t>(sizeof(T))});
  reference::Pixels out = in;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t i = 0; i < stride; ++i) {
      const T value = result[static_cast<std::size_t>(y * stride + i)];
      if (i < in.width) {
        out.values[static_cast<std::size_t>(y * in.width + i)] = value;
      } else {
        EXPECT_EQ(value, canary) << "written past the end of row " << y;
      }
    }
  }
  return out;
}

// The number of values that differ; NaN equals NaN.
inline int differences(const reference::Pixels& a, const reference::Pixels& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double x = a.values[i], y = b.values[i];
    count += x != y && !(std::isnan(x) && std::isnan(y));
  }
  return count;
}

inline std::string describe(const Mask& mask) {
  std::string text = std::to_string(mask.width) + "x" + std::to_string(mask.height) + " origin " +
                     std::to_string(mask.origin_x) + "," + std::to_string(mask.origin_y);
  if (mask.cells.size() > 200) return text;
  for (int y = 0; y < mask.height; ++y) {
    text += '\n';
    for (int x = 0; x < mask.width; ++x) text += mask.at(x, y) ? '#' : '.';
  }
  return text;
}

}  // namespace impipe::testing
