// Finds out where the program or the library lies.
#include "io/module/module_folders.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <string_view>
#include <system_error>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code error;
  // Where this is libimpipe the program is another's, such as Python.
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&program_path), &own) != 0 &&
      std::string_view(own.dli_fname).find(".so") != std::string_view::npos) {
    const fs::path library = fs::canonical(own.dli_fname, error);
    if (!error) return library;
  }
  const fs::path link = fs::read_symlink("/proc/self/exe", error);
  if (!error && link.is_absolute() && fs::is_regular_file(link, error)) return link;
  // Without /proc: the path that execve was given. A program that changed its folder in between
  // would look in a wrong place; this one does not.
  const auto given = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (given == nullptr) return {};
  const fs::path real = fs::canonical(given, error);
  return !error && fs::is_regular_file(real, error) ? real : fs::path();
}

std::vector<fs::path> codec_folders(const std::string& named, const fs::path& program) {
  if (!named.empty()) {
    if (fs::path(named).is_absolute()) return {named};
    fail("IMPIPE_CODEC: '", named,
         "' is not an absolute path: code is not loaded from wherever impipe is run");
  }
  std::vector<fs::path> out;
  if (program.is_absolute()) {
    const fs::path folder = program.parent_path();
    // The build tree: beside src/cli and tests lies src/io.
    out = {folder / "../lib/impipe", folder, folder / "../io", folder / "../src/io"};
  }
  out.emplace_back(IMPIPE_CODEC_FOLDER);
  return out;
}

}  // namespace impipe::io
