// Rows, then columns in one kernel: a group makes the row pass of its tile in local memory and
// reads the column pass there. Separable filters, and rectangles of extrema that are not small.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

extern const FormRow two_passes_form;

}  // namespace impipe::jit
