// Pictures that are read and written some rows at a time, because they do not fit into memory, or
// to take less of it.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

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

}  // namespace impipe::io
