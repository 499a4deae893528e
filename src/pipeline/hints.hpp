// What stands here for functions of MATLAB that have another name, or no name, in a pipeline.
#pragma once

#include <string>
#include <string_view>

namespace impipe::pipeline {

// "imread" -> "the files named after the pipeline are read"; empty when nothing is known. Whatever
// the case of its letters. "medfilt3" -> that operators work on images, not on volumes.
std::string hint_for(std::string_view name);

}  // namespace impipe::pipeline
