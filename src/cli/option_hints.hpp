// Options that other tools have, and what does their work here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace impipe::cli {

// The end of a message about the unknown option `name` ("--jobs"): "; -j N does that". Empty where
// nothing is known, or where the command, whose options are `known`, has no such option.
std::string hint_for_option(std::string_view name, std::span<const std::string> known);

}  // namespace impipe::cli
