// Pictures for measuring: the same in every run.
#include "engine/tools/made_image.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace impipe::engine {
namespace {

template <class T>
void fill(Planes& planes, double white, std::uint32_t seed) {
  const Size size = planes.front().size();
  const auto channels = static_cast<int>(planes.size());
  std::vector<double> wave_x(static_cast<size_t>(size.width * channels));
  for (std::int64_t x = 0; x < size.width; ++x) {
    for (int c = 0; c < channels; ++c) {
      const double u = static_cast<double>(x) / static_cast<double>(size.width);
      wave_x[static_cast<size_t>(x * channels + c)] = 0.15 * std::sin(25 * u + c);
    }
  }
  std::uint32_t state = seed;
  for (std::int64_t y = 0; y < size.height; ++y) {
    const double v = static_cast<double>(y) / static_cast<double>(size.height);
    const double wave_y = std::cos(19 * v);
    for (std::int64_t x = 0; x < size.width; ++x) {
      const double u = static_cast<double>(x) / static_cast<double>(size.width);
      const double disk = (u - 0.5) * (u - 0.5) + (v - 0.4) * (v - 0.4) < 0.04 ? 0.2 : 0;
      for (int c = 0; c < channels; ++c) {
        state = state * 1664525u + 1013904223u;
        const double noise = 0.05 * (static_cast<double>(state >> 8) / (1 << 24) - 0.5);
        const double value =
            0.35 + 0.2 * u + wave_x[static_cast<size_t>(x * channels + c)] * wave_y + disk + noise;
        const double scaled = std::clamp(value, 0.0, 1.0) * white;
        planes[static_cast<size_t>(c)].row_as<T>(y)[x] =
            static_cast<T>(std::is_integral_v<T> ? scaled + 0.5 : scaled);
      }
    }
  }
}

}  // namespace

HostImage make_natural_image(PixelClass cls, int channels, Size size, std::uint32_t seed) {
  const double white = class_max(cls);
  HostImage image({.cls = cls, .channels = channels, .alpha = false, .white = white}, size);
  switch (cls) {
    case PixelClass::logical:
    case PixelClass::uint8: fill<std::uint8_t>(image.planes, white, seed); break;
    case PixelClass::uint16: fill<std::uint16_t>(image.planes, white, seed); break;
    case PixelClass::single: fill<float>(image.planes, white, seed); break;
  }
  return image;
}

}  // namespace impipe::engine
