// Runs a test in a process of its own: for what is made once a process, such as the kernel cache.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace impipe::testing {

// The exit status of this program with one test, which is DISABLED_ so that it runs nowhere else.
// environment: what is set beside this process's own.
int run_in_fresh_process(const std::string& test,
                         const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace impipe::testing
