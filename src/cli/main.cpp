// The program's entry: an Error becomes a message on stderr and the exit code.
#include <new>
#include <string>

#include "cli/app.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"

int main(int argc, char** argv) {
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
