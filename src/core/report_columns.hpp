// What the measurements of a pipeline and their numbers are called in reports.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/plan.hpp"

namespace impipe {

// Numbers that a row may have of one measurement.
inline constexpr std::int64_t max_in_a_row = 4096;

// The column of one number of a measurement that has `values` of them in each of `channels`:
// "mean2", "mean2_g" of three channels, "mean2_c2" of other ones, and "imhist_7", "imhist_g_7"
// where there are several values. channel and element count from 0.
std::string column_name(std::string_view measurement, int channels, int channel,
                        std::int64_t values, std::int64_t element);

// Makes the names of the plan's measurements unique, and the plan's columns.
//
// A stage with a name of its own (stage_names, by `as NAME`) has that name instead of its
// operator's; where it reports several measurements (stats), before theirs: NAME_min. Then the
// others have their operators' names in the order of the pipeline. Where any column would have a
// name that is taken, or would have it of pictures of other channels, all of its stage get the
// first number from 2 on that leaves them unlike: mean2.2.
void name_measurements(Plan& plan, const std::map<int, std::string>& stage_names);

}  // namespace impipe
