// A run that a server does.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace impipe::cli::serve {

// Has the server do a run with these arguments, and returns the exit code when it is over. Nothing
// where the run has to be done here: because of `why_local`, or because no server does it, which is
// said unless quiet.
std::optional<int> run_by_server(const std::vector<std::string>& arguments, bool quiet,
                                 const std::string& why_local);

}  // namespace impipe::cli::serve
