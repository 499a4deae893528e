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

// As write_file; a Zarr whose name ends in .zarr becomes a folder, and one that is there is
// replaced.
void write_picture(const std::filesystem::path& target, std::span<const std::byte> bytes,
                   std::string_view maker = "", UnsyncedDisks* disks = nullptr);

}  // namespace impipe::io
