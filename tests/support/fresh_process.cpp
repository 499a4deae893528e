// Starts this program again with a filter.
#include "support/fresh_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace impipe::testing {

int run_in_fresh_process(const std::string& test,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
  const std::string filter = "--gtest_filter=" + test;
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execl("/proc/self/exe", "unit_tests", filter.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_brief=1", nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace impipe::testing
