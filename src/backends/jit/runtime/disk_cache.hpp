// Keeps what the run-time compilers made on disk for the next run, and verdicts on devices.
//
// The cache may be shared by processes, read-only, full, damaged or another program's: that costs
// a warning and a compilation, never a failure. What is in it is run: it is used only where nobody
// but the user and root can write.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_cache.hpp"

namespace impipe::jit {

// Everything that decides what a binary is like.
struct CacheKey {
  std::string source;
  std::string options;
  std::string compiler;  // with its version; empty when there is none here: any will do
  std::string device;
  std::string driver;
};

class DiskCache {
 public:
  static constexpr std::int64_t default_capacity = std::int64_t{512} << 20;

  // The folder is made when something is stored. capacity: bytes of all entries, beyond which the
  // least recently used ones go.
  explicit DiskCache(std::filesystem::path folder, std::int64_t capacity = default_capacity);

  const std::filesystem::path& folder() const { return folder_; }

  // Any thread, and any number of processes.
  std::optional<std::vector<std::byte>> load(const CacheKey& key);
  // title: what it is, for `impipe cache list`; one line.
  void store(const CacheKey& key, std::span<const std::byte> contents, std::string_view title);

  // The same of verdicts, which are texts.
  std::optional<std::string> load(const VerdictKey& key);
  void store(const VerdictKey& key, std::string_view verdict, std::string_view title);

  // Kernels that could not be stored.
  int not_kept() const { return not_kept_; }

  // Of a file of a cache; empty where it is damaged or another program's.
  static std::string title_of(const std::filesystem::path& file);

  // Warnings since the last call, each said once.
  std::vector<std::string> take_warnings();
  // Those that were said may be said again.
  void forget_warnings();

 private:
  struct Entry;  // a file's identity, title and contents

  void warn(std::string text);
  // Nothing, perhaps with a warning, where there is no whole file of that name.
  std::optional<Entry> read(const std::string& name);
  // False, with a warning, where it can't be written.
  bool write(const std::string& name, const Entry& entry);
  // Whether only the user and root can have put something into the folder; warns when not.
  bool is_trusted();
  void keep_below_capacity(std::int64_t added);

  std::filesystem::path folder_;
  std::int64_t capacity_;
  std::atomic<int> not_kept_ = 0;
  std::mutex mutex_;
  std::int64_t size_ = -1;  // bytes of all entries as far as this process knows; -1: not looked yet
  std::set<std::string> said_;
  std::vector<std::string> warnings_;
};

// IMPIPE_CACHE_DIR, XDG_CACHE_HOME/impipe or ~/.cache/impipe; empty when none of them is set.
std::filesystem::path cache_folder();
// This process's cache, in cache_folder().
DiskCache& disk_cache();

// Throws Error (file_failed) when there is something that is no folder or can't be read.
std::vector<CacheEntry> list_cache(const std::filesystem::path& folder);
// Removes the entries and temporary files, and nothing else. Returns how many.
// Throws Error (file_failed) as list_cache, and when a file can't be removed.
std::int64_t clear_cache(const std::filesystem::path& folder);

}  // namespace impipe::jit
