// Where the pixels of a pipeline's images lie in its input.
#pragma once

#include <optional>
#include <vector>

#include "core/affine_place.hpp"
#include "core/plan.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::pipeline {

// One a value of a lowered plan: the place in the input image of each of its pixels; none where no
// affine map tells it, and of images that are not made of the input. sizes: of all values.
std::vector<std::optional<AffinePlace>> pixel_places(const Pipeline& pipeline, const Plan& lowered,
                                                     const std::vector<Size>& sizes);

}  // namespace impipe::pipeline
