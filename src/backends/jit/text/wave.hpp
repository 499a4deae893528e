// Words for the work-items of a wave, which run together and exchange values, as kernel text.
#pragma once

#include <string>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Work-items of a wave. ITEM / 32 is the wave's number in its group, ITEM % 32 the lane.
inline constexpr int wave_items = 32;

// Waves that a group may have. OpenCL 1.2 has no words for a part of a group: there a wave is a
// group, and exchanges go through local memory.
int most_waves(Dialect dialect);

// WAVE_MEMORY (in a kernel), WAVE_GIVEN and WAVE_GIVE (in functions that exchange values, which all
// lanes call), WAVE_BARRIER, wave_least_int, _long and _double, wave_lane_before (a value of the
// lane with the number before), HIGHEST_BIT and LOWEST_BIT of a word that is not 0, DOUBLE_BITS and
// BITS_DOUBLE.
std::string wave_words(Dialect dialect);

}  // namespace impipe::jit
