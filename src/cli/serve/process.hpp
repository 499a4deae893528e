// What of a process decides how a run goes, beside its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace impipe::cli::serve {

// What a process has from its start and a server can't take over from a client: the program,
// limits, processors, rights. Each is "NAME=VALUE"; the names are for people.
std::vector<std::string> process_facts();

// "NAME=VALUE" of the environment, in their order.
std::vector<std::string> variables();
// Whether impipe, a driver or the loader reads the variable once in a process. Of others, such as
// those of flags (IMPIPE_QUALITY), each run has its own value.
bool is_read_once(std::string_view variable);

// Why a process with these facts and variables may not do a run of one with the others; empty where
// it may.
std::string difference(const std::vector<std::string>& facts,
                       const std::vector<std::string>& other);

}  // namespace impipe::cli::serve
