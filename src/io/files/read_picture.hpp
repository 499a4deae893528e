// Pictures as files: their bytes, and what their headers say. A file may be written to by others
// meanwhile; what state of it was read is said.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "io/codec.hpp"
#include "io/files/file_stamp.hpp"

namespace impipe::io {

// The whole of a picture file. Looks at the first bytes before it reads the rest, so that a huge
// file that is no picture costs nothing. Throws Error (file_failed): "no such file", "is a
// directory", "permission denied", "empty file", "not an image (starts with '…')".
Bytes read_picture(const std::filesystem::path& path);
// How many bytes of pipes may be kept in memory, and are not yet; several threads take from it.
using PipeBudget = std::atomic<std::int64_t>;
class FrameReader;  // io/formats/y4m/frame_reader.hpp
// stdin and pipes: up to the end. More than the budget has is an error that names --memory.
// Where `frames` is given, a stream of frames is not read but for its header, which `frames` has.
Bytes read_picture(int file_descriptor, PipeBudget& budget,
                   std::shared_ptr<FrameReader>* frames = nullptr);
// Whether the content of a file is a picture; false also for what cannot be read.
bool is_picture(const std::filesystem::path& path);

// Reads only the header, but of a pipe, which can be read only once, everything, into `content`, or
// what `frames` goes on with, see read_picture.
ImageInfo probe(const std::filesystem::path& path, Bytes& content, PipeBudget& budget,
                const Reading& reading = {}, std::shared_ptr<FrameReader>* frames = nullptr);
ImageInfo probe(const std::filesystem::path& path, std::optional<int> page = {},
                const Reading& reading = {});

// As read_picture without a stamp. A file that is written to while it is read is read again, and an
// Error in the end. stamp: of what was read.
Bytes read_picture(const std::filesystem::path& path, FileStamp& stamp);
// The same by a function that reads a regular file of `size` bytes.
using ReadFile = std::function<Bytes(int file, size_t size)>;
Bytes read_unchanged(const std::filesystem::path& path, FileStamp& stamp, const ReadFile& read);

}  // namespace impipe::io
