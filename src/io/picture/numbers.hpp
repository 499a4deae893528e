// Numbers of files that have no class of their own, as single.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace impipe::io {

inline float half_to_float(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const float sign = (h & 0x8000) != 0 ? -1.0f : 1.0f;
  const auto mantissa = static_cast<float>(h & 1023);
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1024.0f + mantissa, exponent - 25);
}

// As few digits as tell it from others: "0.5".
template <class Number>
std::string short_text(Number number) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Values of a file that single does not hold, and for which the image has others.
struct Inexact {
  std::int64_t count = 0;
  std::string first;  // "16777217 becomes 16777216"
  void add(const Inexact& other) {
    if (first.empty()) first = other.first;
    count += other.count;
  }
  // "single cannot hold 3 of its values (16777217 becomes 16777216)".
  std::string text() const {
    return "single cannot hold " + std::to_string(count) + " of its values (" + first + ")";
  }
};

// Whether a number that became `single` is as good as before: whole numbers, which may be names,
// are exact, and fractions are rounded to the 24 bits that single has.
template <class Number>
bool is_held(Number value, float single) {
  if constexpr (std::is_integral_v<Number>) {
    // One more than the largest number, a power of two.
    constexpr auto half = Number{1} << (std::numeric_limits<Number>::digits - 1);
    constexpr float end = 2.0f * static_cast<float>(half);
    return single < end && static_cast<Number>(single) == value;
  } else {
    const double held = single;
    if (held == value || std::isnan(value)) return true;
    // Doubles of that size and more are all whole, and most are no counts.
    const bool counts = value == std::floor(value) && std::abs(value) <= 0x1p53;
    return !counts && std::abs(held - value) <= std::abs(value) * 0x1p-24;
  }
}

// A number as single; what that does not hold is counted.
template <class Number>
float to_single(Number value, Inexact& inexact) {
  const auto single = static_cast<float>(value);
  if (is_held(value, single)) return single;
  if (inexact.count++ == 0) {
    inexact.first = short_text(value) + " becomes " + short_text(static_cast<double>(single));
  }
  return single;
}

}  // namespace impipe::io
