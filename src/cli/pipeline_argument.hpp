// The pipeline as given on the command line or in a file.
#pragma once

#include <string>
#include <vector>

#include "pipeline/pipeline.hpp"

namespace impipe::cli {

// Takes the pipeline from the front of `arguments`, or from `file` when that is not empty. Throws
// Error; a file or folder in the pipeline's place gets a message of its own.
pipeline::Pipeline take_pipeline(std::vector<std::string>& arguments, const std::string& file);

}  // namespace impipe::cli
