// Reads pictures that others may write to meanwhile, and tells what state of the file it was.
#pragma once

#include <filesystem>
#include <functional>

#include "io/codec.hpp"
#include "io/files/file_stamp.hpp"

namespace impipe::io {

// As read_picture without a stamp. A file that is written to while it is read is read again, and an
// Error in the end. stamp: of what was read.
Bytes read_picture(const std::filesystem::path& path, FileStamp& stamp);
// The same by a function that reads a regular file of `size` bytes.
using ReadFile = std::function<Bytes(int file, size_t size)>;
Bytes read_unchanged(const std::filesystem::path& path, FileStamp& stamp, const ReadFile& read);

}  // namespace impipe::io
