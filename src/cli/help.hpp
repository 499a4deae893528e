// The texts of --help and --version.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace impipe::cli {

std::string main_help();
std::string command_help(const Command& command);
std::string version_text(bool verbose);

}  // namespace impipe::cli
