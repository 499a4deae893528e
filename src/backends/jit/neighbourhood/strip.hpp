// Neighbourhoods of neighbourhoods, or one of points, in one kernel: nothing between them is
// stored.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

extern const FormRow strip_form;

}  // namespace impipe::jit
