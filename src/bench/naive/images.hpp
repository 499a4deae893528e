// What the plain loops share: planes in, planes out.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/naive/loops.hpp"
#include "core/error.hpp"

namespace impipe::bench::naive {

inline Outcome outcome_of(HostImage image) {
  Outcome outcome;
  outcome.image = std::move(image);
  return outcome;
}

inline Outcome outcome_of(std::vector<double> numbers) {
  Outcome outcome;
  const auto values = static_cast<std::int64_t>(numbers.size());
  outcome.measurements = {{.channels = 1, .values = values, .numbers = std::move(numbers)}};
  return outcome;
}

// Rounded half away from zero and saturated, or as it is.
template <class T>
T stored(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
  }
}

// Calls body.template operator()<T>(image, material) with T the type of the image's pixels.
template <class Body>
Loop loop_of(Body body) {
  return [body](const Material& material) -> Outcome {
    switch (material.image.type.cls) {
      case PixelClass::uint8:
        return body.template operator()<std::uint8_t>(material.image, material);
      case PixelClass::single: return body.template operator()<float>(material.image, material);
      default: throw Error("--naive: its loops know uint8 and single images");
    }
  };
}

// out(x, y) = value(x, y), whose class is `type`'s.
template <class Out, class Value>
Outcome each_pixel(Size size, const ImageType& type, const Value& value) {
  HostImage out(type, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    Out* to = out.planes[0].row_as<Out>(y);
    for (std::int64_t x = 0; x < size.width; ++x) to[x] = static_cast<Out>(value(x, y));
  }
  return outcome_of(std::move(out));
}

}  // namespace impipe::bench::naive
