#include "cli/serve/client.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "cli/serve/connection.hpp"
#include "cli/serve/process.hpp"
#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"

namespace impipe::cli::serve {
namespace {

// A run that waits for its turn is done here after as long as it takes to open a card.
constexpr std::chrono::milliseconds patience{300};

// Of the shell's `<(...)`, and a terminal: other files in another process.
bool names_open_file(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, [](const std::string& text) {
    return std::ranges::any_of(std::initializer_list<const char*>{"/dev/fd/", "/proc/self/",
                                                                  "/proc/thread-self/", "/dev/tty"},
                               [&](const char* name) { return text.find(name) != text.npos; });
  });
}

int current_umask() {
  const mode_t mask = umask(0);
  umask(mask);
  return static_cast<int>(mask);
}

// Returns when a server has begun to listen to this process alone. Throws Error where none does.
Descriptor hand_over(const std::vector<std::string>& arguments) {
  const char* given = std::getenv("IMPIPE_SOCKET");
  Request request{
      .process = {}, .variables = variables(), .arguments = arguments, .umask = current_umask()};
  std::vector<std::string> named_files = request.variables;
  std::erase_if(named_files, [](const std::string& variable) {
    return !variable.starts_with("IMPIPE_") && !variable.starts_with("OCIO=");
  });
  if (names_open_file(arguments) || names_open_file(named_files)) {
    throw Error("it names a file that is open in this process");
  }
  const Descriptor folder(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) throw Error("the folder can't be entered");
  Descriptor socket = connect_to(socket_path(given == nullptr ? "" : given));
  request.process = process_facts();
  set_patience(socket, patience);
  send_request(socket, request);
  const std::string refusal = receive_text(socket);
  if (!refusal.empty()) throw Error(refusal);
  set_patience(socket, {});
  send_descriptors(socket, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, folder.get()});
  return socket;
}

}  // namespace

std::optional<int> run_by_server(const std::vector<std::string>& arguments, bool quiet,
                                 const std::string& why_local) {
  Descriptor socket;
  try {
    if (!why_local.empty()) throw Error(why_local);
    socket = hand_over(arguments);
  } catch (const Error& error) {
    if (!quiet) write_stderr(std::string("impipe: the run is local: ") + error.what());
    return std::nullopt;
  }
  forward_signals_to(socket.get());
  let_running_work_end(true);
  const std::optional<int> code = receive_byte(socket);
  if (!code) throw Error("the server ended before the run", ExitCode::file_failed);
  return code;
}

}  // namespace impipe::cli::serve
