// What of a process decides how a run goes, beside its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace impipe::cli::serve {

// What a process has from its start and a server can't take over from a client: the program,
// limits, processors, rights. Each is "NAME=VALUE"; the names are for people.
std::vector<std::string> process_facts();

// "NAME=VALUE" of the environment, of those that impipe, drivers and the loader read.
std::vector<std::string> variables_that_matter();
// Whether the variable is a flag's (IMPIPE_QUALITY), which each run has its own value of. Others
// are read once in a process.
bool is_flag(std::string_view variable);

// Why a process with these facts and variables may not do a run of one with the others; empty where
// it may.
std::string difference(const std::vector<std::string>& facts,
                       const std::vector<std::string>& other);

}  // namespace impipe::cli::serve
