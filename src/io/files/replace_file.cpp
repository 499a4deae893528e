// Replaces a file by one that has the same rights and attributes.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/zarr_folder.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* access_list = "system.posix_acl_access";

[[noreturn]] void fail_keep(const std::string& what, const fs::path& path) {
  throw system_error(errno, "cannot keep " + what + " of '" + path.string() + "': ");
}

std::vector<std::string> attribute_names(const fs::path& path) {
  std::vector<std::string> names;
  const ssize_t size = listxattr(path.c_str(), nullptr, 0);
  if (size <= 0) return names;  // none, or a file system without them
  std::vector<char> text(static_cast<size_t>(size));
  const ssize_t got = listxattr(path.c_str(), text.data(), text.size());
  for (ssize_t at = 0; at < got;) {
    names.emplace_back(text.data() + at);
    at += static_cast<ssize_t>(names.back().size()) + 1;
  }
  return names;
}

// Of the user's attributes and the access control list each must come along; those of the system,
// such as security labels, are its own business.
void copy_attributes(const fs::path& from, int to) {
  bool has_list = false;
  for (const std::string& name : attribute_names(from)) {
    if (name == maker_attribute) continue;  // what made it is another thing now
    has_list = has_list || name == access_list;
    const ssize_t size = getxattr(from.c_str(), name.c_str(), nullptr, 0);
    std::vector<char> value(size < 0 ? 0 : static_cast<size_t>(size));
    const bool good = size >= 0 &&
                      getxattr(from.c_str(), name.c_str(), value.data(), value.size()) == size &&
                      fsetxattr(to, name.c_str(), value.data(), value.size(), 0) == 0;
    if (!good && (name == access_list || name.starts_with("user."))) {
      fail_keep(name == access_list ? "the access control list" : "the attribute " + name, from);
    }
  }
  // The folder's default list is for new files.
  if (!has_list) fremovexattr(to, access_list);
}

void copy_rights(const fs::path& from, int to) {
  struct stat want = {}, have = {};
  if (stat(from.c_str(), &want) != 0 || fstat(to, &have) != 0) fail_keep("the rights", from);
  if (have.st_gid != want.st_gid && fchown(to, static_cast<uid_t>(-1), want.st_gid) != 0) {
    fail_keep("the group", from);
  }
  if (have.st_uid != want.st_uid && fchown(to, want.st_uid, static_cast<gid_t>(-1)) != 0) {
    fail_keep("the owner", from);
  }
  copy_attributes(from, to);
  // After the owner, whose change takes away some bits of the mode.
  constexpr mode_t all = 07777;
  if (fstat(to, &have) != 0 ||
      ((have.st_mode & all) != (want.st_mode & all) && fchmod(to, want.st_mode & all) != 0)) {
    fail_keep("the mode", from);
  }
}

}  // namespace

std::string why_not_replaceable(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};  // to read it says why
  if (S_ISDIR(status.st_mode)) return is_zarr_folder(path) ? "it is a folder of chunks" : "";
  if (!S_ISREG(status.st_mode)) return "it is no file, but a pipe or device";
  if (status.st_nlink > 1) {
    return "it has " + std::to_string(status.st_nlink) +
           " names (hard links), and the others would keep the old picture";
  }
  if (access(path.c_str(), W_OK) != 0) {
    return "it may not be written: " + std::string(std::strerror(errno));
  }
  return {};
}

void replace_file(const fs::path& path, std::span<const std::byte> bytes, UnsyncedDisks* disks) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  // Something may have happened to it since the run began.
  const std::string why = error ? error.message() : why_not_replaceable(real);
  if (!why.empty()) {
    throw Error("cannot replace '" + path.string() + "': " + why, ExitCode::file_failed);
  }
  constexpr unsigned private_mode = 0600;  // nobody else reads it before it has its rights
  AtomicFile file(real, private_mode);
  file.write(bytes);
  copy_rights(real, file.descriptor());
  file.commit("", disks);
}

}  // namespace impipe::io
