// The files of a Zarr, by their keys: those of a ZIP in memory, or of a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/formats/zarr/zip_archive.hpp"
#include "io/module/library_codec.hpp"

namespace impipe::io {

// To read; used by several threads at a time. Throws Error.
class ChunkFiles {
 public:
  virtual ~ChunkFiles() = default;
  // The size of a file; -1 where there is none.
  virtual std::int64_t bytes_of(const std::string& key) const = 0;
  // A part of a file that is there. It is put into `room` where it is not in memory already.
  virtual InputBytes part(const std::string& key, std::int64_t begin, std::int64_t bytes,
                          Bytes& room) const = 0;
};

class ZippedChunks final : public ChunkFiles {
 public:
  explicit ZippedChunks(InputBytes file) : file_(file), zip_(ByteSource(file)) {}
  std::int64_t bytes_of(const std::string& key) const override;
  InputBytes part(const std::string& key, std::int64_t begin, std::int64_t bytes,
                  Bytes& room) const override;

 private:
  const InputBytes file_;
  const ZipReader zip_;
};

// Reads a folder that is open meanwhile. Links are not followed.
class FolderChunks final : public ChunkFiles {
 public:
  explicit FolderChunks(int folder) : folder_(folder) {}
  std::int64_t bytes_of(const std::string& key) const override;
  InputBytes part(const std::string& key, std::int64_t begin, std::int64_t bytes,
                  Bytes& room) const override;

 private:
  const int folder_;
};

// Where chunks go that are made.
class ChunkTarget {
 public:
  struct Chunk {
    std::string key;
    Bytes bytes;
  };
  virtual ~ChunkTarget() = default;
  virtual void put(const std::vector<Chunk>& chunks) = 0;
};

class ZipTarget final : public ChunkTarget {
 public:
  void put(const std::vector<Chunk>& chunks) override;
  Bytes finish() { return zip_.finish(); }

 private:
  ZipWriter zip_;
};

// A folder that is open meanwhile. in_parts: others write into it, too: a file that is there is
// whole.
class FolderTarget final : public ChunkTarget {
 public:
  FolderTarget(int folder, bool in_parts, ForEach for_each)
      : folder_(folder), in_parts_(in_parts), for_each_(for_each) {}
  void put(const std::vector<Chunk>& chunks) override;

 private:
  const int folder_;
  const bool in_parts_;
  const ForEach for_each_;
  std::string made_;  // the folder of the last chunk
};

}  // namespace impipe::io
