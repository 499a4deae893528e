// Weighted sums of two or three uint16 planes in fixed point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// code = (k[0] a + k[1] b + ... + offset) >> shift, saturated, of codes less 32768, where each k is
// high + low / 2^15. Sums within `near` of the next code are left to the body.
struct WordSum {
  static constexpr int max_inputs = 3;
  int inputs = 0;
  std::int16_t high[max_inputs + 1] = {}, low[max_inputs + 1] = {};
  std::int32_t offset = 0;
  int shift = 0;
  std::int32_t near = 0;
};

// The sum that a body is in double, if there is one and it leaves little to the body. from and to
// are the classes of the planes and of the result, args the body's arguments.
std::optional<WordSum> word_sum(const PointBody& body, std::span<const PixelClass> from,
                                PixelClass to, const std::vector<double>& args, CpuLevel level);

// n pixels; in: the rows of the planes.
void run_word_sum(std::byte* out, const std::byte* const* in, std::int64_t n, const WordSum& sum,
                  const PointBody& body, const std::vector<double>& args, CpuLevel level);

}  // namespace impipe::cpu
