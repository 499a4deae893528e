// Extrema over large masks that are no rectangles: discs, diamonds, lines. The cost grows with the
// rows of the mask, not with its cells.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

extern const FormRow mask_runs_form;

}  // namespace impipe::jit
