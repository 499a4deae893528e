// Reads a stream of frames as it comes, from a pipe or a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "io/bytes/open_file.hpp"
#include "io/formats/y4m/y4m.hpp"

namespace impipe::io {

// Used by one thread at a time.
class FrameReader {
 public:
  // A copy of the descriptor is read; `head` is what has been read of it already. Reads the header.
  // Throws Error, as all functions here do.
  FrameReader(int file, std::string head);
  explicit FrameReader(const std::filesystem::path& path);

  const Y4mHeader& header() const { return header_; }
  std::int64_t frames() const { return frames_; }  // read so far
  // The next frame, as a file of this one, or nothing of it (no bytes) where it is not wanted;
  // nothing at the end, or once `stop`, asked often, says so. The error of a frame that is cut
  // names it.
  std::optional<Bytes> next(bool wanted, const std::function<bool()>& stop);

 private:
  void read_header();
  // Up to `count` bytes behind those of the buffer; 0 at the end or after a stop.
  std::size_t read_some(std::byte* out, std::size_t count, const std::function<bool()>& stop);
  std::optional<std::string> line(const std::function<bool()>& stop);
  bool fill(const std::function<bool()>& stop);
  std::size_t skip(std::size_t count, const std::function<bool()>& stop);

  OpenFile file_;
  std::string buffer_;  // read and not yet used, from `at_` on
  std::size_t at_ = 0;
  std::string header_line_;
  Y4mHeader header_;
  std::int64_t frames_ = 0;
};

}  // namespace impipe::io
