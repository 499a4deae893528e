// Reconstruction and what operators make of it.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// The largest image under `mask` that `marker` reaches; both of one class.
ImageValue reconstructed(PlanBuilder& plan, const ImageValue& marker, const ImageValue& mask,
                         int connectivity);
// The smallest image above `mask` that `marker` comes down to.
ImageValue reconstructed_from_above(PlanBuilder& plan, const ImageValue& marker,
                                    const ImageValue& mask, int connectivity);

}  // namespace impipe::ops
