// Pictures that are read and written some rows at a time, because they do not fit into memory, or
// to take less of it. So far those are TIFFs and JPEGs.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/codec.hpp"

namespace impipe::io {

class UnsyncedDisks;

// A file that is being read; used by one thread at a time. Errors carry the reason alone.
class PictureRows {
 public:
  virtual ~PictureRows() = default;
  // Rows [y, y_end), as `decode` would make them. Going on where the last call ended costs least.
  virtual HostImage read(std::int64_t y, std::int64_t y_end) = 0;
};

// A file that is being written; used by one thread at a time.
class PictureSink {
 public:
  virtual ~PictureSink() = default;
  // The next rows, of the type that was announced.
  virtual void write(const HostImage& rows) = 0;
  // After the last row. The file, unless it was an open one that was written to.
  virtual Bytes finish() = 0;
};

// Opens a TIFF whose header says `info`; null when its rows cannot be read without the others.
std::unique_ptr<PictureRows> open_rows(const std::filesystem::path& path, const ImageInfo& info);
// The same of an upright JPEG, which stays in memory meanwhile.
std::unique_ptr<PictureRows> open_rows(std::span<const std::byte> file, const ImageInfo& info);
// The metadata of such a file.
MetadataRead read_metadata(const std::filesystem::path& path, const ImageInfo& info);

// What a picture is converted to, as `encode` converts one, and how it is stored.
struct RowsTarget {
  ImageType type;  // of the result, before its conversion to `cls`
  PixelClass cls = PixelClass::uint8;
  Size size;
  Size tile;  // of no pixels: in strips
};

// A TIFF that appears whole or not at all.
class RowsFile {
 public:
  // The names of the metadata that it will not have.
  static std::vector<std::string> losses(const RowsTarget& target, const Metadata& metadata);
  // Throws Error.
  RowsFile(const std::filesystem::path& path, const RowsTarget& target, const Metadata& metadata,
           const EncodeOptions& options);
  ~RowsFile();
  // The next rows. Adds to `clipped` the values that were saturated. False where the input's type
  // of samples (Metadata::samples) does not hold them: then the file is to be begun again without.
  [[nodiscard]] bool write(const HostImage& rows, std::int64_t& clipped);
  // maker: see is_up_to_date. disks: see AtomicFile::commit.
  void commit(std::string_view maker, UnsyncedDisks* disks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A JPEG of rows, with the bytes that `encode` makes of the whole.
class RowsJpeg {
 public:
  // Throws Error.
  RowsJpeg(const ImageType& type, Size size, const Metadata& metadata,
           const EncodeOptions& options);
  ~RowsJpeg();
  // The next rows.
  void write(const HostImage& rows);
  // After the last row.
  Encoded finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace impipe::io
