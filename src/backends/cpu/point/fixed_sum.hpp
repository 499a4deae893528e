// Weighted sums of two byte images in integers.
#pragma once

#include <cstdint>
#include <optional>

#include "core/body.hpp"

namespace impipe::cpu {

// code = clamp((first * a + second * b + offset) >> shift, 0, 255)
struct FixedSum {
  std::int16_t first = 0, second = 0;
  std::int32_t offset = 0;
  int shift = 0;

  std::uint8_t code(int a, int b) const {
    const std::int32_t sum = (first * a + second * b + offset) >> shift;
    return static_cast<std::uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  }
};

// The sum nearest to a function that has these values at (0, 0), (255, 0) and (0, 255), rounded
// half up. Whether it gives the function's codes is to be tried.
std::optional<FixedSum> fixed_sum_through(double origin, double at_first, double at_second);

void run_fixed_sum(const FixedSum& sum, std::uint8_t* out, const std::uint8_t* a,
                   const std::uint8_t* b, std::int64_t n, CpuLevel level);

}  // namespace impipe::cpu
