// Looks at owners and modes.
#include "backends/jit/runtime/trust.hpp"

#include <unistd.h>

#include <cstdio>

namespace impipe::jit {
namespace {

namespace fs = std::filesystem;

std::string mode_text(const struct stat& status) {
  char out[16];
  std::snprintf(out, sizeof out, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return out;
}

}  // namespace

std::string why_distrusted(const struct stat& status) {
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return "belongs to another user (" + std::to_string(status.st_uid) + ")";
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "can be written by others (mode " + mode_text(status) + ")";
  }
  return "";
}

std::string why_distrusted(const fs::path& folder) {
  if (!folder.is_absolute()) {
    return folder.string() +
           " is not an absolute path: code is not loaded from wherever impipe "
           "is run";
  }
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return "";
  struct stat status {};
  if (stat(real.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return "";
  if (const std::string reason = why_distrusted(status); !reason.empty()) {
    return real.string() + " " + reason;
  }
  for (fs::path above = real.parent_path();; above = above.parent_path()) {
    if (stat(above.c_str(), &status) != 0) return "";
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
      return real.string() + " lies in " + above.string() +
             ", which everybody can write to (mode " + mode_text(status) + ")";
    }
    if (above == above.parent_path()) return "";
  }
}

}  // namespace impipe::jit
