// Tables that the user writes, on the device.
#pragma once

#include <vector>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// These numbers as a measurement of one channel, for Point::in_table.
MeasureValue table_of(PlanBuilder& plan, const std::vector<double>& values);

// The value of the table at the place that each pixel holds, rounded and clamped to its ends.
ImageValue looked_up(PlanBuilder& plan, const ImageValue& places, MeasureValue table,
                     Result result);

}  // namespace impipe::ops
