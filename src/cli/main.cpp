// The program's entry: an Error becomes a message on stderr and the exit code.
#include <cstdio>
#include <new>

#include "cli/app.hpp"
#include "core/error.hpp"

int main(int argc, char** argv) {
  try {
    return impipe::cli::run_app({argv + 1, argv + argc});
  } catch (const impipe::Error& error) {
    std::fprintf(stderr, "impipe: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "impipe: out of memory\n");
    return static_cast<int>(impipe::ExitCode::file_failed);
  }
}
