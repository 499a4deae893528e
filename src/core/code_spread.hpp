// The sum of the squared deviations of codes from their mean, from their sums.
#pragma once

#include <cstdint>

namespace impipe {

// sum and squares: of n codes and of their squares, exact; n is at most 2^30, a code below 2^16.
// For GPUs the same stands in backends/jit/measure/reduce.cl.
//
// The squared deviations from the whole number nearest to the mean are a whole number, found with
// no rounding; what the mean lies beside it takes away at most half of that. So nothing cancels,
// and the result is right to a few units of the last place.
inline double spread_of_sums(std::int64_t sum, std::int64_t squares, std::int64_t n) {
  const std::int64_t nearest = (2 * sum + n) / (2 * n), rest = sum - nearest * n;
  const std::int64_t about_nearest = squares - nearest * sum - nearest * rest;
  return static_cast<double>(about_nearest) -
         static_cast<double>(rest) * static_cast<double>(rest) / static_cast<double>(n);
}

}  // namespace impipe
