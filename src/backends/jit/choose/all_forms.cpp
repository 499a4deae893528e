#include "backends/jit/choose/all_forms.hpp"

#include <algorithm>

#include "backends/jit/block/block.hpp"
#include "backends/jit/geometry/permute.hpp"
#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/neighbourhood/mask_runs.hpp"
#include "backends/jit/neighbourhood/rank_histogram.hpp"
#include "backends/jit/neighbourhood/rank_tiles.hpp"
#include "backends/jit/neighbourhood/strip.hpp"
#include "backends/jit/neighbourhood/tile.hpp"
#include "backends/jit/neighbourhood/van_herk.hpp"
#include "backends/jit/pixel/pixel.hpp"

namespace impipe::jit {

std::span<const FormRow* const> all_forms() {
  static constexpr const FormRow* all[] = {
      &transposition_form,  &strip_form,        &van_herk_form,       &mask_runs_form,
      &two_passes_form,     &blocks_form,       &rank_blocks_form,    &rank_tiles_form,
      &rank_histogram_form, &affine_tiles_form, &nearest_resize_form, &whole_resize_form,
      &resize_tiles_form,   &pixels_form};
  return all;
}

const FormRow* find_form(std::string_view name) {
  const auto forms = all_forms();
  const auto found =
      std::ranges::find_if(forms, [&](const FormRow* row) { return row->name == name; });
  return found == forms.end() ? nullptr : *found;
}

}  // namespace impipe::jit
