// The names that a run writes, to find before any work that two of them are one, or that one of
// them is a file which the run reads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace impipe::io {

// Whether names in this folder that differ in capitals alone are one file.
bool folds_case(const std::filesystem::path& folder);

class WrittenNames {
 public:
  using Writer = std::int64_t;  // whatever tells the caller's writers apart
  using FoldsCase = std::function<bool(const std::filesystem::path&)>;
  explicit WrittenNames(FoldsCase folds = folds_case) : folds_case_(std::move(folds)) {}

  // Notes that `writer` makes the file of this name. Returns the one that makes it already, however
  // its path is spelled; the name stays with that one.
  std::optional<Writer> add(const std::filesystem::path& path, Writer writer);
  // The writer that would replace what is read by this name: the same file by device and inode, by
  // way of links too, or the same name where there is no file yet. Pipes and devices, which nothing
  // replaces, have none.
  std::optional<Writer> replacing(const std::filesystem::path& path);
  // Whether `path` has a writer by its name.
  bool has(const std::filesystem::path& path) { return by_name_.contains(key_of(path)); }

 private:
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FileId&) const = default;
  };
  struct HashOfFileId {
    std::size_t operator()(const FileId& id) const {
      return std::hash<std::uint64_t>()(id.inode * 0x9e3779b97f4a7c15u + id.device);
    }
  };
  // What is known of a folder that names lie in.
  struct Folder {
    std::string key;      // the same for all its spellings
    bool exists = false;  // else nothing in it does
    bool folds_case = false;
  };

  static std::optional<FileId> file_id(const std::filesystem::path& path);
  const Folder& folder_of(const std::filesystem::path& path);
  std::string key_of(const std::filesystem::path& path);

  FoldsCase folds_case_;
  std::unordered_map<std::string, Folder> folders_;
  std::unordered_map<std::string, Writer> by_name_;
  // The names in folders that exist: looked at by `replacing`, since not every caller asks.
  std::vector<std::pair<std::filesystem::path, Writer>> unseen_;
  std::unordered_map<FileId, Writer, HashOfFileId> by_file_;
};

}  // namespace impipe::io
