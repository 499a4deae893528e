// Looks at the parts of a name, and at where its folder really is.
#include "io/files/result_bounds.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

std::string why_folder_outside(const fs::path& folder, const fs::path& root) {
  std::error_code error;
  const auto real = [&](const fs::path& path) {
    return error ? fs::path()
                 : fs::weakly_canonical(fs::absolute(path.empty() ? "." : path), error);
  };
  const fs::path real_root = real(root), real_folder = real(folder);
  if (error) return "'" + folder.string() + "' leads nowhere: " + error.message();
  const auto [end, rest] =
      std::mismatch(real_root.begin(), real_root.end(), real_folder.begin(), real_folder.end());
  if (end == real_root.end()) return {};
  return "'" + folder.string() + "' leads to '" + real_folder.string() + "'";
}

}  // namespace

std::string ResultBounds::why_outside(const std::string& path, const std::string& root) {
  const fs::path below(path.substr(root.size()));
  if (std::ranges::any_of(below, [](const fs::path& part) { return part == ".."; })) {
    return "it goes up by '..'";
  }
  if (!below.has_parent_path()) return {};
  const std::string folder = path.substr(0, path.rfind('/'));
  const auto [place, is_new] = folders_.try_emplace(root + '\0' + folder);
  if (is_new) {
    // Without the '/' at its end, which would be an empty last part.
    const size_t end = root.find_last_not_of('/');
    place->second = why_folder_outside(folder, end == root.npos ? root : root.substr(0, end + 1));
  }
  return place->second;
}

}  // namespace impipe::io
