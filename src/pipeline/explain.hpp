// Says in words what a plan does: stages, types, steps, barriers and bytes moved.
#pragma once

#include <string>

#include "core/plan.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::pipeline {

// The text of `impipe plan`. `plan` is what will run; `unfused` is the plan before fusion, for
// comparison of the bytes moved.
std::string explain(const Pipeline& pipeline, const Plan& plan, const Plan& unfused);

// One line about a step: "point imadjust + separable 7x7 -> reduce sum"; "-> the image + reduce
// sum" when the image is stored as well.
std::string describe(const Step& step);

// Bytes a step reads and writes for one pixel of its first image.
double bytes_per_pixel(const Step& step);

}  // namespace impipe::pipeline
