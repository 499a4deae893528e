// The files of a folder in one: a ZIP whose entries are not packed, as Zarr's ZipStore writes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

class ZipReader {
 public:
  struct Entry {
    std::int64_t header = 0, bytes = 0;
    bool is_packed = false;
  };
  // Reads the directory. Throws Error.
  explicit ZipReader(const ByteSource& source);
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  // Where the bytes of a file begin. Throws Error where they are packed, or not there.
  std::int64_t begin_of(std::string_view name, const Entry& entry) const;
  // A whole file; none where there is none. Throws Error for one of more than `most` bytes.
  std::optional<std::string> read(std::string_view name, std::int64_t most) const;

 private:
  struct Directory {
    std::int64_t begin = 0, bytes = 0;
  };
  Directory find_directory() const;

  ByteSource source_;
  std::map<std::string, Entry, std::less<>> entries_;
};

class ZipWriter {
 public:
  void add(std::string_view name, std::span<const std::byte> bytes);
  void add(std::string_view name, std::string_view text) {
    add(name, std::as_bytes(std::span(text)));
  }
  Bytes finish();

 private:
  Bytes out_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

// The checksum of ZIP and PNG.
std::uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace impipe::io
