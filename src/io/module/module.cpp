// Finds and opens the codec modules at the first picture that needs it.
#include "io/module/module.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "core/shared_pool.hpp"
#include "io/bytes/byte_source.hpp"
#include "io/module/module_folders.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders() {
  const char* named = std::getenv("IMPIPE_CODEC");
  return codec_folders(named == nullptr ? "" : named, program_path());
}

// Not to be caught by a second try: after a load that failed for want of memory glibc's loader
// mixes up the threads' data of libraries.
std::atomic<bool> loader_is_spoilt = false;

[[noreturn]] void fail_to_load() {
  loader_is_spoilt = true;
  throw std::bad_alloc();
}

// Each module but the program's own is a package of its own (cmake/Package.cmake).
std::string package_of(std::string_view file_name) {
  std::string out(file_name.substr(0, file_name.rfind('.')));
  std::ranges::replace(out, '_', '-');
  return out == "impipe-codec" ? "impipe" : out;
}

const CodecModule& open_module(const std::string& file_name) {
  constexpr size_t spare = 1 << 20;  // bytes; the loader takes less
  ::operator delete(::operator new(spare));
  if (loader_is_spoilt) throw std::bad_alloc();
  std::string looked;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    const fs::path clean = (folder / file_name).lexically_normal();
    looked += (looked.empty() ? "" : ", ") + clean.parent_path().string();
    if (!fs::exists(clean, error)) continue;
    // Deferred binding: most files need few of the libraries' functions.
    errno = 0;
    void* library = dlopen(clean.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = dlerror();
      // Without memory for a name the loader says that there is no such file, which was seen above.
      const bool no_name = errno == ENOENT && reason != nullptr &&
                           std::string_view(reason).starts_with(clean.native() + ": ");
      const bool no_room = reason != nullptr && std::string_view(reason).ends_with(
                                                    "failed to map segment from shared object");
      if (reason == nullptr || errno == ENOMEM || no_name || no_room) fail_to_load();
      fail("the codec module cannot be loaded: ", reason);
    }
    const auto open = reinterpret_cast<OpenCodec>(dlsym(library, open_codec_symbol));
    const CodecModule* module = open == nullptr ? nullptr : open(codec_version);
    if (module == nullptr) {
      fail("the codec module ", clean.string(), " belongs to another version of impipe (this is ",
           codec_version, ")");
    }
    module->set_for_each(for_each_shared);
    return *module;
  }
  fail("the codec module ", file_name, " was not found in ", looked,
       "; install it (Debian: the package ", package_of(file_name),
       "), or set IMPIPE_CODEC to its folder");
}

}  // namespace

const CodecModule& codec_module(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string_view, const CodecModule*> opened;  // the names are constants
  std::lock_guard lock(mutex);
  if (const auto known = opened.find(name); known != opened.end()) return *known->second;
  const CodecModule& module = open_module(std::string(name) + ".so");  // tried again after a throw
  opened.emplace(name, &module);
  return module;
}

}  // namespace impipe::io
