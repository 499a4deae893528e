// How far apart the bytes of two rows are.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// out = |a - b|
void byte_differences(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b,
                      std::int64_t n, CpuLevel level);

// The sum of (a - b)^2.
std::int64_t squared_byte_differences(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n,
                                      CpuLevel level);

}  // namespace impipe::cpu
