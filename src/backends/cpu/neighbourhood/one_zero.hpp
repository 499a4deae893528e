// Extrema and ranks give one zero: which of 0 and -0 is the smaller depends on the order in which
// they are compared, and that is each form's own.
#pragma once

#include <type_traits>

#include "core/body.hpp"

namespace impipe::cpu {

// The value, or 0 where it is -0.
template <class T>
IMPIPE_INLINE T one_zero(T value) {
  if constexpr (std::is_floating_point_v<T>) return value + T{0};
  return value;
}

// The mean of two values; of integers a half is rounded up.
template <class T>
IMPIPE_INLINE T mean_of_two(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return one_zero((a + b) / 2);
  } else {
    return static_cast<T>((a + b + 1) >> 1);
  }
}

}  // namespace impipe::cpu
