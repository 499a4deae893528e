// Whether code may be taken from a file or a folder: nobody but the user and root can have put it
// there.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace impipe::jit {

// Why not, for a file or folder of this status: "belongs to another user (1001)", "can be written
// by others (mode 0777)". Empty when it may.
std::string why_distrusted(const struct stat& status);

// The same for a folder, with its name in front, and for those it lies in: in one that everybody
// may write to, without the sticky bit, it could be exchanged. Symbolic links are followed. Empty
// too for a folder that is not there or can't be looked at, which the caller finds out.
std::string why_distrusted(const std::filesystem::path& folder);

}  // namespace impipe::jit
