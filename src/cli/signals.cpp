// Handlers that do no more than set a number, or leave.
#include "cli/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "engine/run.hpp"

namespace impipe::cli {
namespace {

std::atomic<int> received{0};
std::atomic<bool> running{false};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void handle(int signal) {
  if (running && received.exchange(signal) == 0) return;
  engine::remove_temporaries();
  const char* text = signal == SIGINT ? "impipe: interrupted\n" : "impipe: terminated\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
  _exit(128 + signal);
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction old = {};
    // A shell starts background jobs with SIGINT ignored; that is kept.
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaction(signal, &action, nullptr);
    }
  }
}

void let_running_work_end(bool let) { running = let; }
int stop_signal() { return received; }

}  // namespace impipe::cli
