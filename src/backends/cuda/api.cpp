// Opens the driver and NVRTC by name.
#include "backends/cuda/api.hpp"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/error.hpp"

namespace impipe::cuda {
namespace {

// Empty when all functions were found, else the first name that was not.
template <class Api>
std::string look_up(void* library, Api& api);

#define IMPIPE_CUDA_LOOK_UP(member, name, parameters)                        \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, name)); \
  if (api.member == nullptr) return name;

template <>
std::string look_up(void* library, Driver& api) {
  IMPIPE_CUDA_DRIVER(IMPIPE_CUDA_LOOK_UP)
  return "";
}

template <>
std::string look_up(void* library, CompilerApi& api) {
  IMPIPE_CUDA_COMPILER(IMPIPE_CUDA_LOOK_UP)
  return "";
}

template <class Api>
bool open(const std::string& path, Library<Api>& library) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  library = {};
  const std::string missing = look_up(handle, library.api);
  library.found = missing.empty();
  library.path = path;
  if (!library.found) {
    library.why_not = path + " has no " + missing + ": it is too old";
    dlclose(handle);
  }
  return library.found;
}

std::vector<std::string> matches(const std::string& pattern) {
  if (pattern.find('/') == std::string::npos) return {pattern};  // a name for the dynamic linker
  std::vector<std::string> found;
  glob_t result{};
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0) {
    for (std::size_t i = result.gl_pathc; i-- > 0;) found.emplace_back(result.gl_pathv[i]);
  }
  globfree(&result);
  return found;
}

// The folder with the Python packages where this code is a part of one, as impipe/bin/impipe or
// impipe/lib/libimpipe.so.0; else empty. Also in a virtual environment that is not active.
std::string own_packages() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_packages), &info) == 0) return "";
  const std::filesystem::path file = info.dli_fname;
  const std::filesystem::path package = file.parent_path().parent_path();
  const bool is_packaged = file.is_absolute() && package.filename() == "impipe";
  return is_packaged ? package.parent_path().string() : "";
}

// A name without '/' is the dynamic linker's to find.
bool is_relative_path(std::string_view path) {
  return path.find('/') != path.npos && !path.starts_with('/');
}

int major_of(const CompilerApi& api) {
  int major = 0, minor = 0;
  return api.version(&major, &minor) == 0 ? major : 0;
}

Library<CompilerApi> find_compiler() {
  int driver_version = 0;  // 1000 * major + 10 * minor
  if (!driver().found || driver().api.driver_version(&driver_version) != 0) driver_version = 0;
  Library<CompilerApi> too_new, library;
  library.why_not =
      "NVIDIA's run-time compiler (libnvrtc.so) was not found; install it "
      "(CUDA Toolkit, or pip install nvidia-cuda-nvrtc), or name it in IMPIPE_NVRTC";
  if (const char* named = std::getenv("IMPIPE_NVRTC"); named && is_relative_path(named)) {
    library.why_not = "IMPIPE_NVRTC: '" + std::string(named) +
                      "' is not an absolute path: code is not loaded from wherever impipe is run";
    return library;
  }
  for (const std::string& place : compiler_places()) {
    for (const std::string& path : matches(place)) {
      Library<CompilerApi> candidate;
      if (!open(path, candidate)) continue;
      if (driver_version == 0 || major_of(candidate.api) <= driver_version / 1000) {
        return candidate;
      }
      if (!too_new.found) too_new = candidate;
    }
  }
  return too_new.found ? too_new : library;
}

}  // namespace

std::vector<std::string> compiler_places() {
  if (const char* named = std::getenv("IMPIPE_NVRTC"); named && *named) return {named};
  std::vector<std::string> places = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                     "libnvrtc.so"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home && *home == '/') {
      places.push_back(std::string(home) + "/lib64/libnvrtc.so");
      places.push_back(std::string(home) + "/lib64/libnvrtc.so.1[0-9]*");
    }
  }
  places.emplace_back("/usr/local/cuda/lib64/libnvrtc.so.1[0-9]*");
  places.emplace_back("/usr/local/cuda-*/lib64/libnvrtc.so.1[0-9]");
  constexpr const char* in_packages = "/nvidia/*/lib/libnvrtc.so.1[0-9]*";
  if (const std::string own = own_packages(); !own.empty()) places.push_back(own + in_packages);
  std::vector<std::string> roots;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* root = std::getenv(variable); root && *root == '/') roots.emplace_back(root);
  }
  if (const char* home = std::getenv("HOME"); home && *home == '/') {
    roots.push_back(std::string(home) + "/.local");
  }
  roots.insert(roots.end(), {"/usr/local", "/usr"});
  for (const std::string& root : roots) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      places.push_back(root + "/lib/python3*/" + packages + in_packages);
    }
  }
  return places;
}

const Library<Driver>& driver() {
  static const Library<Driver> library = [] {
    Library<Driver> found;
    if (!open("libcuda.so.1", found) && found.why_not.empty()) {
      found.why_not = "the driver's library libcuda.so.1 was not found; install NVIDIA's driver";
    }
    return found;
  }();
  return library;
}

const Library<CompilerApi>& compiler() {
  static const Library<CompilerApi> library = find_compiler();
  return library;
}

std::string compiler_name() {
  int major = 0, minor = 0;
  if (!compiler().found || compiler().api.version(&major, &minor) != 0) return "";
  return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

void check(Result result, const char* call) {
  if (result == 0) return;
  const char* text = nullptr;
  if (driver().api.error_text(result, &text) != 0 || text == nullptr) text = "unknown error";
  throw Error("cuda: " + std::string(call) + ": " + text, ExitCode::backend);
}

}  // namespace impipe::cuda
