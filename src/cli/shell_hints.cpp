// Finds out what became of stdout, and whether that was meant.
#include "cli/shell_hints.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "cli/standard_output.hpp"

namespace impipe::cli {

std::string hint_of_pipe(const std::string& quoted) {
  struct stat out = {};
  const bool is_pipe = fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode);
  if (!is_pipe || !stderr_is_terminal() || quoted.find('|') != quoted.npos) return {};
  std::string longer = quoted;
  longer.insert(longer.size() - 1, " | …");
  return "; a | outside of quotes is the shell's: impipe " + longer + " INPUT... -o OUTPUT";
}

std::string hint_of_redirection() {
  std::error_code error;
  const std::filesystem::path to = std::filesystem::read_symlink("/proc/self/fd/1", error);
  if (error || !std::filesystem::is_regular_file(to, error)) return {};
  const std::string name = to.filename().string();
  const bool is_number = name.find_first_not_of("0123456789.=") == name.npos;
  if (!is_number || std::filesystem::file_size(to, error) > 0) return {};
  return "; a > outside of quotes is the shell's, which made the file '" + name + "'";
}

}  // namespace impipe::cli
