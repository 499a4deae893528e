// How large the images of a pipeline become, known before any memory is taken for them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::pipeline {

inline constexpr std::int64_t default_max_pixels = std::int64_t{1} << 30;

// The size of what a step of a lowered plan makes (of a measurement that of its image), from the
// sizes of the values it reads.
Size size_made(const Plan& lowered, const Step& step, const std::vector<Size>& sizes);

// Throws Error with the stage's place in the text for an image that it makes of more than
// `max_pixels`, or of a side that no picture has.
void check_size(const Pipeline& pipeline, int stage, Size size, std::int64_t max_pixels);

// The sizes of all values of a lowered plan. Where operands do not fit or nothing is left, which is
// told when the image is computed, or the input has too many pixels, which is told when it is read,
// the rest stays 0x0. Throws Error with the stage's place in the text for an image that is made of
// more than `max_pixels`.
std::vector<Size> planned_sizes(const Pipeline& pipeline, const Plan& lowered, Size input,
                                const std::map<std::string, Size>& operands,
                                std::int64_t max_pixels);

// What the pipeline's source makes. Throws the same Error.
MadeImage checked_source(const Pipeline& pipeline, std::int64_t max_pixels);

}  // namespace impipe::pipeline
