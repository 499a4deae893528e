// What tells two states of a file apart without reading it: its size, and when it was last written.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace impipe::io {

struct FileStamp {
  std::int64_t size = -1;  // of what is missing, a pipe or a device: they have no states
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const struct stat& status);
FileStamp stamp_of(const std::filesystem::path& path);
FileStamp stamp_of(int file);  // throws Error
// Of an open file, such that whatever is written from now on changes it: waits some milliseconds
// where it was written just now.
FileStamp stamp_before_reading(int file);

// What is noted of a result for -u: its maker, and a hash of what the files were that it was made
// of when they were read.
std::string made_note(std::string_view maker, std::span<const FileStamp> sources);

}  // namespace impipe::io
