// Which results a type of samples holds.
#include "io/picture/sample_type.hpp"

#include <algorithm>

namespace impipe::io {
namespace {

template <class Number>
bool holds_number(float value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return true;
  } else {
    // Both ends are powers of two, which float has exactly.
    const float end = std::ldexp(1.0f, std::numeric_limits<Number>::digits);
    const float begin = std::is_signed_v<Number> ? -end : 0.0f;
    return value >= begin && value < end && value == std::floor(value);
  }
}

}  // namespace

SampleType sample_type_of(bool is_signed, int bytes) {
  switch (bytes) {
    case 1: return is_signed ? SampleType::int8 : SampleType::of_class;
    case 2: return is_signed ? SampleType::int16 : SampleType::of_class;
    case 4: return is_signed ? SampleType::int32 : SampleType::uint32;
    default: return is_signed ? SampleType::int64 : SampleType::uint64;
  }
}

bool holds(SampleType type, const HostImage& image) {
  return with_number(type, [&]<class Number>(Number) {
    const auto all = [](const Plane& plane) {
      for (std::int64_t y = 0; y < plane.size().height; ++y) {
        const auto* row = plane.row_as<float>(y);
        if (!std::all_of(row, row + plane.size().width, holds_number<Number>)) return false;
      }
      return true;
    };
    return std::ranges::all_of(image.planes, all);
  });
}

}  // namespace impipe::io
