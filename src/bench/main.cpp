// The entry of impipe-bench.
#include "bench/suite_command.hpp"
#include "cli/app.hpp"

int main(int argc, char** argv) {
  return impipe::cli::report_errors("impipe-bench", [&] {
    impipe::cli::CommandSet commands;
    impipe::cli::Command& command = commands.add("bench", "impipe-bench");
    impipe::bench::describe_suites(command);
    return impipe::cli::run_command(command, {argv + 1, argv + argc});
  });
}
