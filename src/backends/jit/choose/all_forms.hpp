// The forms in which kernels make images that are stored.
#pragma once

#include <span>

#include "backends/jit/plan/form.hpp"

namespace impipe::jit {

// Where two cost the same, the earlier one is taken.
std::span<const FormRow* const> all_forms();
// Null: none has the name.
const FormRow* find_form(std::string_view name);

}  // namespace impipe::jit
