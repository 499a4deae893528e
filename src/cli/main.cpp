// The program's entry: an Error becomes a message on stderr and the exit code.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "cli/app.hpp"
#include "core/error.hpp"
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
  constexpr std::string_view text = "impipe: out of memory\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(impipe::ExitCode::file_failed));
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_process);
  try {
    return impipe::cli::run_app({argv + 1, argv + argc});
  } catch (const impipe::Error& error) {
    std::fprintf(stderr, "impipe: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "impipe: out of memory\n");
  } catch (const std::exception& error) {  // of a library: a mutex, a stream, a format
    std::fprintf(stderr, "impipe: %s\n", error.what());
  }
  return static_cast<int>(impipe::ExitCode::file_failed);
}
