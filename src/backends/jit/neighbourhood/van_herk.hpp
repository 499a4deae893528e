// Extrema over rectangles of any size, at a cost that does not grow with the sides.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

extern const FormRow van_herk_form;

}  // namespace impipe::jit
