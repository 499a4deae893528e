// Writes to stdout without a buffer, so that a reader gets each result when it is there; and to
// stderr.
#include "cli/standard_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace impipe::cli {

void write_stdout(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw Error(std::string("stdout: ") + std::strerror(errno), ExitCode::file_failed);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void write_stdout(std::string_view text) { write_stdout(std::as_bytes(std::span(text))); }

void write_stderr(std::string_view message) {
  const std::string line = printable_message(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);  // nobody can be told when this fails
}

void say_out_of_memory(std::string_view name, std::string_view stage) noexcept {
  try {
    std::string message = "impipe: " + printable(name) + ": ";
    if (!stage.empty()) message += std::string(stage) + ": ";
    write_stderr(message + "out of memory");
  } catch (const std::bad_alloc&) {
    say_out_of_memory_plainly(name, stage);
  }
}

void say_out_of_memory_plainly(std::string_view name, std::string_view stage) noexcept {
  char line[PATH_MAX + 64];
  size_t size = 0;
  const auto put = [&](std::string_view text) {
    for (const char c : text) {
      if (size < sizeof line) line[size++] = c >= ' ' && c <= '~' ? c : '?';
    }
  };
  put("impipe: ");
  put(name.substr(0, PATH_MAX));
  put(stage.empty() ? "" : ": ");
  put(stage);
  put(": out of memory");
  line[size++] = '\n';
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line, size);
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }
bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }

}  // namespace impipe::cli
