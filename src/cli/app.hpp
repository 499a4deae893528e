// The command line as a whole: finds the command and runs it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace impipe::cli {

struct Command;

// arguments: without the program's name. Returns the exit code; throws Error.
int run_app(std::vector<std::string> arguments);
// The same, and an Error becomes a message on stderr and the exit code.
int run_and_report(std::vector<std::string> arguments);

// A command with what follows its name. Returns the exit code; throws Error.
int run_command(Command& command, std::vector<std::string> arguments);
// Runs and returns its exit code; an Error becomes a message on stderr behind the program's name.
int report_errors(const std::string& program, const std::function<int()>& run);

}  // namespace impipe::cli
