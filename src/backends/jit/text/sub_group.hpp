// Substitutions for the work-items of a sub-group, which run together and exchange values, as
// kernel text.
#pragma once

#include <string>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Work-items of a sub-group, SUB_GROUP in kernels: ITEM / SUB_GROUP is the sub-group's number in
// its group, ITEM % SUB_GROUP the work-item's in that.
inline constexpr int sub_group_items = 32;

// Sub-groups that a group may have. OpenCL 1.2 has no words for a part of a group: there a
// sub-group is a group, and exchanges go through local memory.
int max_sub_groups(Dialect dialect);

// SUB_GROUP_MEMORY (in a kernel), SUB_GROUP_PARAMS and SUB_GROUP_ARGS (in functions that exchange
// values, which all its work-items call), SUB_GROUP_BARRIER, sub_group_min_int, _long and
// _double, sub_group_lane_before (a value of the work-item before), and HIGHEST_BIT and LOWEST_BIT
// of a word that is not 0.
std::string sub_group_words(Dialect dialect);

}  // namespace impipe::jit
