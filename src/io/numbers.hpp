// Numbers of files that have no class of their own, as single.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "io/byte_source.hpp"

namespace impipe::io {

inline float half_to_float(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const float sign = (h & 0x8000) != 0 ? -1.0f : 1.0f;
  const auto mantissa = static_cast<float>(h & 1023);
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1024.0f + mantissa, exponent - 25);
}

// A whole number as single. Rounding would make one label of two: what does not fit is an Error.
template <class Whole>
float exact_single(Whole value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
  if (magnitude != 0 && std::bit_width(magnitude) - std::countr_zero(magnitude) > 24) {
    fail("it has the value " + std::to_string(value) + ", which single cannot hold exactly");
  }
  return static_cast<float>(value);
}

}  // namespace impipe::io
