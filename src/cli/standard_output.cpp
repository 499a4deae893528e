// Writes to stdout without a buffer, so that a reader gets each result when it is there; and to
// stderr.
#include "cli/standard_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace impipe::cli
