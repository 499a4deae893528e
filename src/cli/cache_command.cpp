// impipe cache: the folder with compiled kernels of the GPU backends.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "cli/command.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::cli {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const char* folder = std::getenv("IMPIPE_CACHE_DIR"); folder && *folder) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) {
    return fs::path(folder) / "impipe";
  }
  if (const char* home = std::getenv("HOME"); home && *home) {
    return fs::path(home) / ".cache" / "impipe";
  }
  throw Error("there is no folder for the cache: set IMPIPE_CACHE_DIR");
}

std::vector<fs::directory_entry> cached_files(const fs::path& folder) {
  std::vector<fs::directory_entry> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error)) files.push_back(*at);
  }
  std::sort(files.begin(), files.end());
  return files;
}

int manage_cache(const std::string& action) {
  const int choice =
      action.empty() ? 0 : 1 + parse_choice("cache", action, {"path", "list", "clear"});
  const fs::path folder = cache_folder();
  std::string out;
  std::error_code error;
  switch (choice) {
    case 0:
      throw Error("cache takes one of path, list, clear");
    case 1:
      out = folder.string() + "\n";
      break;
    case 2:
      for (const fs::directory_entry& file : cached_files(folder)) {
        fmt::format_to(std::back_inserter(out), "{:>10}  {}\n", file.file_size(error),
                       file.path().lexically_relative(folder).string());
      }
      break;
    default: {
      size_t removed = 0;
      for (const fs::directory_entry& file : cached_files(folder)) {
        if (!fs::remove(file.path(), error)) {
          throw Error(file.path().string() + ": " + error.message(), ExitCode::file_failed);
        }
        ++removed;
      }
      out = fmt::format("{} files removed\n", removed);
    }
  }
  write_stdout(out);
  return 0;
}

}  // namespace

void add_cache(CommandSet& commands) {
  Command& command = commands.add("cache");
  command.usage = "impipe cache path|list|clear";
  command.summary = "Show or empty the folder of compiled kernels (IMPIPE_CACHE_DIR)";
  auto action = std::make_shared<std::string>();
  command.app->add_option("action", *action, "path, list or clear")->type_name("");
  command.run = [action] { return manage_cache(*action); };
}

}  // namespace impipe::cli
