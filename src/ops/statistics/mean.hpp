// Means from sums, on the device.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// sums: one a channel of an image. Over all channels (channels = 1), or each channel's own.
MeasureValue mean_of_sums(PlanBuilder& plan, MeasureValue sums, int channels);

}  // namespace impipe::ops
