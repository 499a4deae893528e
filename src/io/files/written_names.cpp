// The names that a run writes, to find before any work that two of them are one, or that one of
// them is a file which the run reads.
#include "io/files/written_names.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

// The name with small letters for capitals and capitals for small ones: "pHOTOS".
std::string with_other_case(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 32);
    } else {
      c = lower(c);
    }
  }
  return name;
}

}  // namespace

bool folds_case(const fs::path& folder) {
  // Asks for the folder itself, or the nearest above it with a letter in its name, by other
  // capitals: no list of file systems would know what a server does.
  std::error_code error;
  for (fs::path at = fs::canonical(folder, error); !error && at.has_relative_path();
       at = at.parent_path()) {
    const std::string name = at.filename().string();
    const std::string other = with_other_case(name);
    if (other == name) continue;
    struct stat one = {}, two = {};
    return lstat(at.c_str(), &one) == 0 && lstat((at.parent_path() / other).c_str(), &two) == 0 &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
  }
  return false;
}

std::optional<WrittenNames::FileId> WrittenNames::file_id(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return FileId{status.st_dev, status.st_ino};
}

const WrittenNames::Folder& WrittenNames::folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  auto [entry, is_new] = folders_.try_emplace(folder.string());
  if (!is_new) return entry->second;
  Folder& out = entry->second;
  std::error_code error;
  const fs::path absolute = fs::absolute(folder.empty() ? fs::path(".") : folder, error);
  fs::path real = fs::weakly_canonical(absolute, error);
  if (error) real = absolute.lexically_normal();
  // The nearest folder that exists, by its number, and what will be made below it, by name.
  fs::path below;
  struct stat status = {};
  while (stat(real.c_str(), &status) != 0 && real.has_relative_path()) {
    below = below.empty() ? real.filename() : real.filename() / below;
    real = real.parent_path();
  }
  out.exists = below.empty();
  out.folds_case = folds_case_(real);
  out.key = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + "/";
  if (!below.empty()) {
    out.key += (out.folds_case ? lowered(below.string()) : below.string()) + "/";
  }
  return out;
}

std::string WrittenNames::key_of(const fs::path& path) {
  const Folder& folder = folder_of(path);
  const std::string name = path.filename().string();
  return folder.key + (folder.folds_case ? lowered(name) : name);
}

std::optional<WrittenNames::Writer> WrittenNames::add(const fs::path& path, Writer writer) {
  const auto [entry, is_new] = by_name_.try_emplace(key_of(path), writer);
  if (!is_new) return entry->second;
  if (folder_of(path).exists) unseen_.emplace_back(path, writer);
  return {};
}

std::optional<WrittenNames::Writer> WrittenNames::replacing(const fs::path& path) {
  for (const auto& [name, writer] : unseen_) {
    if (const auto id = file_id(name)) by_file_.try_emplace(*id, writer);
  }
  unseen_.clear();
  struct stat status = {};
  // While no name that is written is there yet, no file that is there is one of them.
  if (!by_file_.empty() && stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return {};
    const auto found = by_file_.find({status.st_dev, status.st_ino});
    return found == by_file_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = by_name_.find(key_of(path));
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace impipe::io
