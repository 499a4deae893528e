// Fuses the primitives of a Plan into few steps, so that intermediates stay in registers or cache.
#pragma once

#include "core/plan.hpp"

namespace impipe::pipeline {

// From a plan with one primitive a step to one that computes the same bits with fewer steps. What
// nobody reads is left out. Each step says why it stands apart from the one it reads from.
// nests_neighbourhoods: of the device (core/backend.hpp); without it the neighbourhood that another
// one reads is stored, unless that costs more than making it again from the image.
Plan fuse(const Plan& plan, bool nests_neighbourhoods = true);

// Leaves out what nobody reads, and fuses nothing (--no-fuse).
Plan without_unread(const Plan& plan);

}  // namespace impipe::pipeline
