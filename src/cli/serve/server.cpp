// One run after the other in this process: what of it a run takes over, and gives back.
#include "cli/serve/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include "cli/app.hpp"
#include "cli/serve/connection.hpp"
#include "cli/serve/process.hpp"
#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/device/kept_devices.hpp"
#include "engine/device/session.hpp"
#include "engine/run.hpp"

namespace impipe::cli::serve {
namespace {

// What a process is to its files, and to those who read its environment.
void stand_in(const std::array<int, descriptor_count>& descriptors, int mask, char** variables) {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(descriptors[static_cast<size_t>(file)], file);
  }
  [[maybe_unused]] const int ignored = fchdir(descriptors.back());
  umask(static_cast<mode_t>(mask));
  environ = variables;
}

class Server {
 public:
  explicit Server(const ServerOptions& options)
      : path_(socket_path(options.socket)),
        idle_(parse_seconds("--idle", options.idle)),
        listener_(options.listener.empty() ? Listener{} : inherited(options.listener)) {
    const bool is_first = options.listener.empty();
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      own_.at(static_cast<size_t>(file)) = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    own_.back() = open("/", O_PATH | O_CLOEXEC);
    engine::keep_devices();
    open_devices(options.devices, is_first);
    if (is_first) listener_ = listen_at(path_);
    arguments_ = {"impipe",     "serve",
                  "--socket",   path_,
                  "--idle",     options.idle,
                  "--listener", fmt::format("{},{}", listener_.socket.get(), listener_.lock.get())};
    if (!options.devices.empty())
      arguments_.insert(arguments_.end(), {"--device", options.devices});
    for (std::string& argument : arguments_) anew_.push_back(argument.data());
    anew_.push_back(nullptr);
    for (char** own = environ; *own != nullptr; ++own) environ_.push_back(*own);
    environ_.push_back(nullptr);
    leave_the_terminal();
    is_first_ = is_first;
  }
  ~Server() { unlink(path_.c_str()); }

  void serve() {
    if (is_first_) write_stderr("impipe: serving at " + path_);
    pollfd waiting = {.fd = listener_.socket.get(), .events = POLLIN, .revents = 0};
    while (poll(&waiting, 1, static_cast<int>(std::min(1e3 * idle_, 1e9))) > 0) {
      const Descriptor client(accept4(waiting.fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (client.get() < 0 || !is_own(client)) continue;
      try {
        serve(client);
      } catch (const Error&) {  // the client is gone
      }
      if (stop_signal() != 0 && !client_asks_) return;
      forget_signals();
      client_asks_ = false;
    }
  }

  // For what can't go on, as threads that hang: tells the client, and becomes a new process. Those
  // who wait are served by it. Signal handlers, too.
  [[noreturn]] void begin_anew(int code) noexcept {
    engine::remove_temporaries();
    tell(code);
    stand_in(own_, 077, environ_.data());
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int file : {listener_.socket.get(), listener_.lock.get()}) fcntl(file, F_SETFD, 0);
    execv("/proc/self/exe", anew_.data());
    end_at_once(code);
  }
  // By a signal that this process got.
  [[noreturn]] void end_at_once(int code) noexcept {
    tell(code);
    unlink(path_.c_str());
    _exit(0);
  }

 private:
  static Listener inherited(const std::string& numbers) {
    const size_t comma = numbers.find(',');
    return {Descriptor(std::atoi(numbers.c_str())), Descriptor(std::atoi(&numbers[comma + 1]))};
  }

  static void open_devices(const std::string& names, bool is_first) {
    ThreadPool none(0);
    ThreadPool& pool = engine::pool_of_run(none);
    try {
      if (names.empty()) {
        engine::open_any_gpu(pool);
      } else {
        engine::open_devices({.backend = "auto", .device = names}, pool);
      }
    } catch (const Error& error) {
      if (!names.empty() && is_first) throw;
      if (is_first) write_stderr(std::string("impipe: no card is kept open: ") + error.what());
    }
  }

  // A process of a terminal's background may not read from it, and runs are not its own.
  static void leave_the_terminal() {
    const Descriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC));
    if (terminal.get() >= 0 && getsid(0) != getpid()) ioctl(terminal.get(), TIOCNOTTY);
  }

  void serve(const Descriptor& client) {
    Request request;
    std::string refusal;
    set_patience(client, std::chrono::seconds(1));
    try {
      request = receive_request(client);
      refusal = why_not(request);
    } catch (const Error& error) {
      refusal = error.what();
    }
    send_text(client, refusal);
    if (!refusal.empty()) return;
    std::optional<Descriptors> files = receive_descriptors(client);
    if (!files) return;
    set_patience(client, {});
    client_ = client.get();
    const int code = run(request, *files);
    files.reset();  // who reads what the run has written sees the end of it
    const bool is_spoilt =
        engine::must_end_at_once() ||
        (code != 0 && code != static_cast<int>(ExitCode::usage) && !engine::kept_devices_work());
    if (is_spoilt) begin_anew(code);
    tell(code);
    client_ = -1;
    engine::tidy_up_after_run();
    engine::return_free_memory();
  }

  std::string why_not(const Request& request) const {
    std::string why = difference(facts_, request.process);
    return why.empty() ? difference(fixed(variables_), fixed(request.variables)) : why;
  }

  // Of the variables those that have to be the same for all runs.
  static std::vector<std::string> fixed(std::vector<std::string> variables) {
    std::erase_if(variables, [](const std::string& variable) { return !is_read_once(variable); });
    return variables;
  }

  int run(const Request& request, const Descriptors& descriptors) {
    // What drivers have set comes first, and so counts.
    std::vector<char*> variables;
    std::copy_if(environ_.begin(), environ_.end() - 1, std::back_inserter(variables),
                 [&](const char* own) { return !std::ranges::binary_search(variables_, own); });
    std::vector<std::string> given = request.variables;
    for (std::string& variable : given) variables.push_back(variable.data());
    variables.push_back(nullptr);
    std::array<int, descriptor_count> files{};
    std::ranges::transform(descriptors, files.begin(), &Descriptor::get);
    is_over_ = false;
    stand_in(files, request.umask, variables.data());
    std::thread listening([this] { listen_to_client(); });
    const int code = run_and_report(request.arguments);
    is_over_ = true;
    shutdown(client_, SHUT_RD);
    listening.join();
    std::fflush(nullptr);
    std::clearerr(stderr);
    stand_in(own_, 077, environ_.data());
    return code;
  }

  // Signals that the client got, and its end, which stops the run as SIGINT would.
  void listen_to_client() {
    while (true) {
      char signal = 0;
      const ssize_t got = recv(client_, &signal, 1, 0);
      if (is_over_) return;
      client_asks_ = true;
      if (got == 1) {
        if (ask_to_stop(signal)) continue;
        say_ended_by(signal);
        begin_anew(128 + signal);
      }
      if (!ask_to_stop(SIGINT)) begin_anew(static_cast<int>(ExitCode::sigint));
      return;
    }
  }

  void tell(int code) noexcept {
    const char byte = static_cast<char>(code);
    if (client_ >= 0) send(client_, &byte, 1, MSG_NOSIGNAL);
  }

  const std::string path_;
  const double idle_;     // seconds
  bool is_first_ = true;  // it did not begin anew
  const std::vector<std::string> facts_ = process_facts(), variables_ = variables();
  // As opening devices has left it; setenv in a run frees the array that it made itself.
  std::vector<char*> environ_;
  std::array<int, descriptor_count> own_{};
  Listener listener_;
  std::vector<std::string> arguments_;
  std::vector<char*> anew_;  // arguments_, for exec
  std::atomic<int> client_ = -1;
  std::atomic<bool> is_over_ = false, client_asks_ = false;
};

std::atomic<Server*> server = nullptr;

// A run's end at once: by a signal of this process, which is the server's end, or any other way.
void end_run_at_once(int code) {
  Server* const ends = server;
  const bool by_signal = code > static_cast<int>(ExitCode::backend);
  by_signal ? ends->end_at_once(code) : ends->begin_anew(code);
}

}  // namespace

int serve(const ServerOptions& options) {
  Server one(options);
  server = &one;
  leave_by_way_of(end_run_at_once);
  one.serve();
  leave_by_way_of([](int code) { _exit(code); });
  server = nullptr;
  return 0;
}

bool is_server() { return server != nullptr; }

}  // namespace impipe::cli::serve
