// Where codec modules are looked for: never in a place that depends on the current folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace impipe::io {

// The file that this code is in, the program's or libimpipe's, absolute; empty when it cannot be
// found out.
std::filesystem::path program_path();

// The folders that are looked into for modules: the one that IMPIPE_CODEC names, or those beside
// the program and the installed one. All are absolute: code is never loaded from a place that
// depends on the current folder. Throws Error when `named` is relative.
std::vector<std::filesystem::path> codec_folders(const std::string& named,
                                                 const std::filesystem::path& program);

}  // namespace impipe::io
