// Rank filters over wide pixels on a device: groups sort tiles, so that counts of some places in
// the order find a value of any class.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

extern const FormRow rank_tiles_form;
// For larger windows: kernels that sort blocks, and that join them.
extern const FormRow rank_blocks_form;

}  // namespace impipe::jit
