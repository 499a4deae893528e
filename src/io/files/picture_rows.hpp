// Files of which rows are read and written: TIFFs, Zarrs, NPYs and JPEGs.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plane_rows.hpp"
#include "io/codec.hpp"
#include "io/picture/picture_rows.hpp"

namespace impipe::io {

class UnsyncedDisks;

// Whether rows of such a file are read some at a time, as far as its header tells.
bool reads_rows(const ImageInfo& info);
// Rows that are read together at the cost of one: those of a row of tiles or chunks.
std::int64_t rows_together(const ImageInfo& info);
// Opens a file whose header says `info`; null when its rows cannot be read without the others.
std::unique_ptr<PictureRows> open_rows(const std::filesystem::path& path, const ImageInfo& info,
                                       const Reading& reading);
// The same of an upright JPEG, which stays in memory meanwhile.
std::unique_ptr<PictureRows> open_rows(std::span<const std::byte> file, const ImageInfo& info);
// Whether rows of a file whose header says `info` are read in any order, each at no cost of others.
bool has_rows_in_any_order(const std::filesystem::path& path, const ImageInfo& info);
// Rows [y, y_end) of one; the file is opened and closed again.
HostImage read_rows(const std::filesystem::path& path, const ImageInfo& info,
                    const Reading& reading, std::int64_t y, std::int64_t y_end);
// The metadata of such a file.
MetadataRead read_metadata(const std::filesystem::path& path, const ImageInfo& info,
                           const Reading& reading);

// The part of a Zarr's rows that one of several processes writes.
struct ZarrPart {
  int index = 1, count = 1;
  std::string maker;     // made_note of what makes it
  bool goes_on = false;  // rows of chunks that it made before are not made again
};

// What a picture is converted to, as `encode` converts one, and how it is stored.
struct RowsTarget {
  ImageType type;  // of the result, before its conversion to `cls`
  Format format = Format::tiff;
  PixelClass cls = PixelClass::uint8;
  Size size;
  Size tile;      // of a TIFF; of no pixels: in strips
  ZarrPart part;  // with EncodeOptions::zarr_part
};

// Whether rows of such a file are written some at a time.
bool writes_rows(const std::filesystem::path& path, Format format);
// Rows of a result that wait in memory until all of their tiles or chunks are there.
std::int64_t rows_that_wait(const RowsTarget& target, const ImageInfo& input,
                            const EncodeOptions& options);

// A file that appears whole or not at all, but for a Zarr that several processes write.
class RowsFile {
 public:
  // The names of what it will not have of the metadata and of an alpha.
  static Encoded losses(const RowsTarget& target, const Metadata& metadata,
                        const EncodeOptions& options);
  // Throws Error.
  RowsFile(const std::filesystem::path& path, const RowsTarget& target, const Metadata& metadata,
           const EncodeOptions& options);
  ~RowsFile();
  // Those to write, from the first to the last: all but those of other processes, and of an earlier
  // run of a part.
  RowRange rows() const;
  // The next rows. Adds to `clipped` the values that were saturated. False where the input's type
  // of samples (Metadata::samples) does not hold them: then the file is to be begun again without.
  [[nodiscard]] bool write(const HostImage& rows, std::int64_t& clipped);
  // maker: see is_up_to_date. disks: see AtomicFile::commit.
  void commit(std::string_view maker, UnsyncedDisks* disks);

 private:
  const RowsTarget target_;
  SampleType samples_ = SampleType::of_class;
  std::unique_ptr<class RowsOfFormat> file_;
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
