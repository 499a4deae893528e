// What stands here for functions of MATLAB that have another name, or no name, in a pipeline.
#pragma once

#include <string_view>

namespace impipe::pipeline {

// "imread" -> "the files after the pipeline are read"; empty when nothing is known. Whatever the
// case of its letters.
std::string_view hint_for(std::string_view name);

}  // namespace impipe::pipeline
