// Runs of set bits in a row: where they are, and rows of numbers from one number for each.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// Where the runs of a row begin and end (behind their last column), from left to right; returns how
// many there are. Bits behind the last column are 0.
std::int64_t find_runs(const std::uint64_t* bits, std::int64_t count, std::int32_t* begins,
                       std::int32_t* ends);

// What may be read behind the last run's value.
inline constexpr std::int64_t run_values_padding = 16;

// out[x] = the value of the run that pixel x is in, 0 where the bit is not set. values[1] is the
// first run's; values[0] and run_values_padding elements behind the last are read and not used.
// Bits behind the last column are 0.
void write_run_values(const std::uint64_t* bits, const float* values, std::int64_t count,
                      float* out, CpuLevel level);

}  // namespace impipe::cpu
