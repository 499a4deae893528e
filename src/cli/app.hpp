// The command line as a whole: finds the command and runs it.
#pragma once

#include <string>
#include <vector>

namespace impipe::cli {

// arguments: without the program's name. Returns the exit code; throws Error.
int run_app(std::vector<std::string> arguments);

}  // namespace impipe::cli
