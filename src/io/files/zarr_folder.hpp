// A Zarr is a folder of many files. To the program it is one picture, whose bytes are a ZIP of
// them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes/open_file.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

class UnsyncedDisks;

// Whether it is a folder that holds the metadata of a Zarr, whatever it is called.
bool is_zarr_folder(const std::filesystem::path& path);
// A ZIP of what is needed for its picture; of its metadata alone, for its header. Throws Error.
Bytes read_zarr_folder(const std::filesystem::path& folder, bool metadata_alone = false);

// The folder that the keys of its array (ZarrArray::key) begin in, where `folder` may be a level.
std::filesystem::path zarr_root(const std::filesystem::path& folder);

// A Zarr's folder that is written: it appears whole or not at all, in place of a Zarr that is
// there. Throws Error that names the target.
class ZarrFolder {
 public:
  explicit ZarrFolder(std::filesystem::path target);
  ~ZarrFolder();
  ZarrFolder(const ZarrFolder&) = delete;
  ZarrFolder& operator=(const ZarrFolder&) = delete;
  // The open folder, under its temporary name.
  int descriptor() const { return lock_.get(); }
  void add(const std::string& key, std::span<const std::byte> bytes);
  void commit(UnsyncedDisks* disks);

 private:
  [[noreturn]] void fail_with(int number) const;

  const std::filesystem::path target_;
  std::filesystem::path made_;  // empty: it has got its name
  OpenFile lock_;               // tells that somebody is at it
  bool is_there_ = false;
};

struct ZarrPart;

// A Zarr's folder that several processes write into where it is, each its part of the chunks. A
// note of each part (".impipe-part-2-of-3") says what made the chunks of it that are there.
class SharedZarr {
 public:
  // Makes the folder where there is none. Throws Error that names it, as all functions here do.
  explicit SharedZarr(std::filesystem::path folder);
  int descriptor() const { return folder_.get(); }
  // A document, which all processes write alike; another one that is there is an Error.
  void add(const std::string& key, std::string_view text) const;
  // Whether a chunk is there, and not emptied by a power cut.
  bool has(const std::string& key) const;
  void remove(const std::string& key) const;
  bool is_made_by(const ZarrPart& part) const;
  // Removes the note of a part, and those of parts that something else made or that are divided
  // otherwise: their chunks are no longer all theirs.
  void forget_makers(const ZarrPart& part) const;
  void note_maker(const ZarrPart& part) const;

 private:
  void write(const std::string& key, std::string_view text) const;
  [[noreturn]] void fail_with(int number) const;

  const std::filesystem::path path_;
  OpenFile folder_;
};

// As write_file; a Zarr whose name ends in .zarr becomes a folder, and one that is there is
// replaced.
void write_picture(const std::filesystem::path& target, std::span<const std::byte> bytes,
                   std::string_view maker = "", UnsyncedDisks* disks = nullptr);

}  // namespace impipe::io
