// The texts of --help and --version.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace impipe::cli {

std::string main_help();
std::string command_help(const Command& command);
std::string version_text(bool verbose);

// Of options that other tools have: what does their work here. The end of a message about the
// unknown option `name` ("--jobs"): "; -j N does that". Empty where nothing is known, or where the
// command, whose options are `known`, has no such option.
std::string hint_for_option(std::string_view name, std::span<const std::string> known);

}  // namespace impipe::cli
