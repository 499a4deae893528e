// Finds and opens the codec modules at the first picture that needs it.
#include "io/module.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "io/module_folders.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders() {
  const char* named = std::getenv("IMPIPE_CODEC");
  return codec_folders(named == nullptr ? "" : named, program_path());
}

const CodecModule& open_module(const std::string& file_name) {
  std::string looked;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    const fs::path clean = (folder / file_name).lexically_normal();
    looked += (looked.empty() ? "" : ", ") + clean.parent_path().string();
    if (!fs::exists(clean, error)) continue;
    // Deferred binding: most files need few of the libraries' functions.
    void* library = dlopen(clean.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      throw Error("the codec module cannot be loaded: " + std::string(dlerror()),
                  ExitCode::file_failed);
    }
    const auto open = reinterpret_cast<OpenCodec>(dlsym(library, open_codec_symbol));
    const CodecModule* module = open == nullptr ? nullptr : open(codec_version);
    if (module == nullptr) {
      throw Error("the codec module " + clean.string() +
                      " belongs to another version of impipe (this is " + codec_version + ")",
                  ExitCode::file_failed);
    }
    return *module;
  }
  throw Error("the codec module " + file_name + " was not found in " + looked +
                  "; set IMPIPE_CODEC to its folder",
              ExitCode::file_failed);
}

}  // namespace

const CodecModule& codec_module(Format format) {
  // A throw leaves the static to be tried again.
  if (traits(format).codec == Codec::opencv) {
    static const CodecModule& opencv = open_module("impipe_codec_opencv.so");
    return opencv;
  }
  static const CodecModule& module = open_module("impipe_codec.so");
  return module;
}

}  // namespace impipe::io
