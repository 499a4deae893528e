// Files that are written some rows at a time, each format in its way. Throws Error.
#pragma once

#include <optional>

#include "io/files/picture_rows.hpp"

namespace impipe::io {

class RowsOfFormat {
 public:
  virtual ~RowsOfFormat() = default;
  // Those to write; none: all.
  virtual std::optional<RowRange> rows() const { return {}; }
  // The next rows, as the file has them.
  virtual void write(const HostImage& rows) = 0;
  virtual void commit(std::string_view maker, UnsyncedDisks* disks) = 0;
};

// What is to be written. stored: the type in the file; the samples of `options` are set.
struct RowsResult {
  const std::filesystem::path path;
  const RowsTarget target;
  ImageType stored;
  const Metadata& metadata;
  EncodeOptions options;
};
std::unique_ptr<RowsOfFormat> make_rows_of_format(const RowsResult& result);

// The names of the metadata that a TIFF or Zarr will not have.
std::vector<std::string> lost_of_rows(const RowsResult& result);

}  // namespace impipe::io
