// Finds and opens the codec modules at the first picture that needs it.
#include "io/module.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>
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

// Not to be caught by a second try: after a load that failed for want of memory glibc's loader
// mixes up the threads' data of libraries.
std::atomic<bool> loader_is_spoilt = false;

[[noreturn]] void fail_to_load() {
  loader_is_spoilt = true;
  throw std::bad_alloc();
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
      throw Error("the codec module cannot be loaded: " + std::string(reason),
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

bool module_reads_header(Format format) {
  const Codec codec = traits(format).codec;
  return codec == Codec::jxl || codec == Codec::avif || codec == Codec::openjpeg ||
         codec == Codec::heif;
}

const CodecModule& codec_module(Format format) {
  // A throw leaves the static to be tried again.
  switch (traits(format).codec) {
    case Codec::openexr: {
      static const CodecModule& exr = open_module("impipe_codec_exr.so");
      return exr;
    }
    case Codec::jxl: {
      static const CodecModule& jxl = open_module("impipe_codec_jxl.so");
      return jxl;
    }
    case Codec::avif: {
      static const CodecModule& avif = open_module("impipe_codec_avif.so");
      return avif;
    }
    case Codec::openjpeg: {
      static const CodecModule& jp2 = open_module("impipe_codec_jp2.so");
      return jp2;
    }
    case Codec::gif: {
      static const CodecModule& gif = open_module("impipe_codec_gif.so");
      return gif;
    }
    case Codec::heif: {
      static const CodecModule& heif = open_module("impipe_codec_heif.so");
      return heif;
    }
    default: {
      static const CodecModule& module = open_module("impipe_codec.so");
      return module;
    }
  }
}

}  // namespace impipe::io
