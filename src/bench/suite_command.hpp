// The command line of impipe-bench.
#pragma once

#include "cli/command.hpp"

namespace impipe::bench {

void describe_suites(cli::Command& command);

}  // namespace impipe::bench
