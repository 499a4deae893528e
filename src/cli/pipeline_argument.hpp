// The pipeline as given on the command line or in a file.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "engine/sandbox.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::cli {

// Takes the pipeline from the front of `arguments`, or from `file` when that is not empty. Throws
// Error; a file or folder in the pipeline's place gets a message of its own, and what the sandbox
// does not allow it to read is not read.
pipeline::Pipeline take_pipeline(std::vector<std::string>& arguments, const std::string& file,
                                 const engine::Sandbox& sandbox);

// --sandbox[=DIR,...]; the text is for engine::make_sandbox.
CLI::Option* add_sandbox(CLI::App* app, std::string& text);

}  // namespace impipe::cli
