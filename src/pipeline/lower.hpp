// Turns a Pipeline into a Plan for one kind of image: typed steps, one primitive each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/display_window.hpp"
#include "core/plan.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::pipeline {

struct LowerOptions {
  bool strict = false;  // a colour image for a one-channel operator is an error, and a gray one
                        // for rgb2gray
  // Of the input, where it is another than the image.
  std::optional<DisplayWindow> display = {};
};

// operands: the types of the images that --with binds, by name.
// Throws Error with the place in the text when an operator is not defined for what reaches it.
Plan lower(const Pipeline& pipeline, const ImageType& input,
           const std::map<std::string, ImageType>& operands = {}, const LowerOptions& options = {});

// What stands before, between and behind the stages that make one image of several.
struct PlanPart {
  Plan plan;
  // What becomes of the images that it makes; nothing: the part is the last.
  std::optional<ImageReduction> reduction;
  int reduction_stage = 0;
};
// The same of each part, of which a pipeline without such stages has one. Stages have the numbers
// that they have in the whole pipeline.
std::vector<PlanPart> lower_parts(const Pipeline& pipeline, const ImageType& input,
                                  const std::map<std::string, ImageType>& operands = {},
                                  const LowerOptions& options = {});

}  // namespace impipe::pipeline
