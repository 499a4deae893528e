// The program's entry: an Error becomes a message on stderr and the exit code.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <string>

#include "cli/app.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"

namespace {

// A shell's `2>&-` starts the program without stderr, and the next file that is opened, a picture
// say, would get its number and the messages. What is put in a closed one's place can't be used:
// to write results to a closed stdout, or to read a closed stdin, is an error still.
void fill_standard_descriptors() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) != -1 || errno != EBADF) continue;
    const int unusable = open("/", O_PATH | O_CLOEXEC);  // the lowest free number: `file`
    if (unusable != file) close(unusable);
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  try {
    return impipe::cli::run_app({argv + 1, argv + argc});
  } catch (const impipe::Error& error) {
    impipe::cli::write_stderr(std::string("impipe: ") + error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    impipe::cli::write_stderr("impipe: out of memory");
    return static_cast<int>(impipe::ExitCode::file_failed);
  }
}
