// The command line as a whole: finds the command and runs it.
#pragma once

#include <string>
#include <vector>

namespace impipe::cli {

// arguments: without the program's name. Returns the exit code; throws Error.
int run_app(std::vector<std::string> arguments);
// The same, and an Error becomes a message on stderr and the exit code.
int run_and_report(std::vector<std::string> arguments);

}  // namespace impipe::cli
