// Transpositions through tiles in local memory.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

extern const FormRow transposition_form;

}  // namespace impipe::jit
