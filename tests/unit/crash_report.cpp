// A crash of the tests says in which test it was, and where: the log of a failed run may be all
// that there is of it.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

[[maybe_unused]] void report_crash(int signal) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::array<char, 256> line;
  const int length = std::snprintf(line.data(), line.size(), "\nsignal %d in %s.%s\n", signal,
                                   test != nullptr ? test->test_suite_name() : "no test",
                                   test != nullptr ? test->name() : "");
  if (write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)) < 0) _exit(1);
  std::array<void*, 64> frames;
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), STDERR_FILENO);
  raise(signal);  // once more, with the system's own handler
}

// Sanitizers have handlers of their own, which say more.
[[maybe_unused]] const bool installed = [] {
  // PoCL's handler would go on after a division of integers by zero, in our own code, too.
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static std::array<char, 1 << 16> stack;  // the thread's own may be what ran out
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternative, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    struct sigaction action {};
    action.sa_handler = report_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
    sigaction(signal, &action, nullptr);
  }
  void* first = nullptr;
  backtrace(&first, 1);  // loads what it needs, for which a crash is no place
#endif
  return true;
}();

}  // namespace
