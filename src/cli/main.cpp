// The program's entry: an Error becomes a message on stderr and the exit code.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "cli/app.hpp"
#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/run.hpp"

namespace {

// A library that throws where nothing may be thrown, as in the start of a shared library or in a
// function that promises not to, ends the process. When memory is the reason that is said, as
// elsewhere, and nothing is left behind.
[[noreturn]] void end_process() {
  bool out_of_memory = errno == ENOMEM;  // the exception is not always to be had
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  } catch (...) {
    out_of_memory = false;
  }
  if (!out_of_memory) std::abort();
  impipe::engine::remove_temporaries();
  if (const char* file = impipe::engine::FileAtWork::name()) {
    impipe::cli::say_out_of_memory_plainly(file);
  } else {
    constexpr std::string_view text = "impipe: out of memory\n";
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  }
  impipe::cli::leave(static_cast<int>(impipe::ExitCode::file_failed));
}

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
  std::set_terminate(end_process);
  const int code = impipe::cli::run_and_report({argv + 1, argv + argc});
  if (impipe::engine::must_end_at_once()) {
    // What threads that hang use may not be destroyed.
    impipe::engine::remove_temporaries();
    std::fflush(nullptr);
    _exit(code);
  }
  return code;
}
