// The forms in which kernels make images that are stored.
#include "backends/jit/choose/chooser.hpp"

namespace impipe::jit {

std::span<const FormRow* const> all_forms() {
  static constexpr const FormRow* all[] = {
      &transposition_form,  &strip_form,        &van_herk_form,       &mask_runs_form,
      &two_passes_form,     &blocks_form,       &rank_blocks_form,    &rank_tiles_form,
      &rank_histogram_form, &affine_tiles_form, &nearest_resize_form, &whole_resize_form,
      &resize_tiles_form,   &pixels_form};
  return all;
}

}  // namespace impipe::jit
