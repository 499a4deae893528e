// TIFFs in tiles, with the smaller images of a pyramid or without, whose directories lie before the
// pixels: cloud-optimized GeoTIFFs (COG), and pyramids in SubIFDs as Bio-Formats reads them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "io/bytes/open_file.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/picture/encoding.hpp"
#include "io/picture/picture_rows.hpp"
#include "io/picture/pyramid.hpp"

namespace impipe::io {

inline Size tiff_tile(const EncodeOptions& options) {
  const std::int64_t side = options.chunk != 0 ? options.chunk : default_chunk;
  return {side, side};
}

class TiledTiff {
 public:
  // An empty file without a name, which a level's tiles lie in until the whole is put together.
  using MakeFile = std::function<OpenFile()>;
  // stored: the type in the file. has_white: of the result, whose pixels have a mean then.
  struct Image {
    ImageType stored;
    Size size;
    bool has_white = true;
    const Metadata& metadata;
    const EncodeOptions& options;
  };
  TiledTiff(const Image& image, const MakeFile& make_file);
  // The next rows, as they are stored.
  void write(const HostImage& rows);
  // After the last: calls `take` with the bytes of the file, one part behind the other. shown: what
  // a thumbnail is made of. Adds to `lost` the names of the metadata that it cannot hold.
  using TakeBytes = std::function<void(std::span<const std::byte>)>;
  void finish(const HostImage& shown, const TakeBytes& take, Lost& lost);

 private:
  struct Level {
    OpenFile file;
    std::unique_ptr<PictureSink> sink;
  };
  void write_piece(const HostImage& rows, std::int64_t y, std::int64_t y_end);

  const Image image_;
  const std::vector<Size> sizes_;
  std::vector<Level> levels_;
  Pyramid pyramid_;
  std::int64_t y_ = 0;
};

}  // namespace impipe::io
