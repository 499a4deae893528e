// Rows of numbers from one number for each run of set bits.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// What may be read behind the last run's value.
inline constexpr std::int64_t run_values_padding = 16;

// out[x] = the value of the run that pixel x is in, 0 where the bit is not set. values[1] is the
// first run's; values[0] and run_values_padding elements behind the last are read and not used.
// Bits behind the last column are 0.
void write_run_values(const std::uint64_t* bits, const float* values, std::int64_t count,
                      float* out, CpuLevel level);

}  // namespace impipe::cpu
