// Handlers that do no more than set a number, or leave.
#include "cli/signals.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "engine/run.hpp"

namespace impipe::cli {
namespace {

std::atomic<int> received{0};
std::atomic<int> forwarded_to{-1};
std::atomic<void (*)(int)> leave_by{[](int code) { _exit(code); }};
std::atomic<bool> running{false};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void handle(int signal) {
  if (ask_to_stop(signal)) {
    const char byte = static_cast<char>(signal);
    if (forwarded_to >= 0) send(forwarded_to, &byte, 1, MSG_NOSIGNAL);
    return;
  }
  engine::remove_temporaries();
  say_ended_by(signal);
  leave(128 + signal);
}

}  // namespace

void say_ended_by(int signal) {
  const char* text = signal == SIGINT ? "impipe: interrupted\n" : "impipe: terminated\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
}

bool ask_to_stop(int signal) { return running && received.exchange(signal) == 0; }

void leave(int code) {
  leave_by.load()(code);
  _exit(code);
}

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

void leave_by_way_of(void (*end)(int code)) { leave_by = end; }
void forward_signals_to(int socket) { forwarded_to = socket; }

void forget_signals() {
  received = 0;
  running = false;
}

void let_running_work_end(bool let) { running = let; }
int stop_signal() { return received; }

}  // namespace impipe::cli
