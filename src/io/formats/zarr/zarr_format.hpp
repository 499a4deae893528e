// Zarr's files: those of its metadata, which are written here, and those of chunks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/picture/encoding.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"
#include "io/picture/pyramid.hpp"

namespace impipe::io {

// The options of a Zarr that is made of an image of this type, before its conversion to the class
// of the file: what is not asked for is as in the Zarr that it was made from.
EncodeOptions zarr_options(const ImageType& original, const Metadata& metadata,
                           const EncodeOptions& options);
// The sizes of the images that are written of one.
inline std::vector<Size> zarr_levels(Size size, const EncodeOptions& options) {
  return options.zarr_part ? std::vector<Size>{size} : pyramid_sizes(size, options.chunk);
}
// The folder of a row of chunks: "0/c/2/17/", of channel 2.
inline std::string zarr_row_key(const EncodeOptions& options, int channels, int level, int channel,
                                std::int64_t row) {
  return std::to_string(level) + (options.zarr_version == 3 ? "/c/" : "/") +
         (channels > 1 ? std::to_string(channel) + "/" : "") + std::to_string(row) + "/";
}
// A Zarr that is to be written. type: as the file has it; options: those of zarr_options.
struct ZarrResult {
  ImageType type;
  Size size;
  const Metadata& metadata;
  const EncodeOptions& options;
};
using WriteZarrKey = std::function<void(const std::string& key, const std::string& text)>;
// The documents of its metadata. Adds to `lost` the names of what it cannot hold.
void write_zarr_documents(const ZarrResult& result, const WriteZarrKey& write,
                          std::vector<std::string>& lost);

// One Zarr of the pages, each a Zarr of its own, along their axes; without axes that count as many
// they lie along z. lost: gets the names of what it cannot say of them. Throws Error where pages
// differ, and for axes that OME-Zarr does not have.
Bytes join_zarr_pages(std::span<const Bytes> pages, const FileAxes& file,
                      std::vector<std::string>& lost);

}  // namespace impipe::io
