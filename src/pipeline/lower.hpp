// Turns a Pipeline into a Plan for one kind of image: typed steps, one primitive each.
#pragma once

#include <map>
#include <optional>
#include <string>

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

}  // namespace impipe::pipeline
