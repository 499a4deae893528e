// Metadata in the directories of a TIFF, and files of several pages.
#pragma once

#include <span>
#include <string>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/format_traits.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

MetadataRead read_tiff_metadata(const MetadataInput& input);
Bytes with_tiff_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                         Lost& lost);

// What goes into a TIFF of this order: fields of its directory, and a block of EXIF, which the file
// begins with but for its header; or none.
struct TiffAdditions {
  TiffFields fields;
  std::string front;
};
TiffAdditions tiff_additions(const Metadata& metadata, const TiffOrder& order, Lost& lost);
// Says along which axes pages lie where no description of these fields does; reads the file that
// they go into where that needs its layout.
void describe_axes(TiffFields& fields, const Metadata& metadata, const ByteSource& file,
                   Lost& lost);
// Without those that the directory has.
void add_fields(TiffFields& written, TiffFields more);
// Whether a TIFF made from a file of these metadata is big-endian, as that was.
bool is_big_endian(const Metadata& metadata);
// How a file with the metadata is stored: like the TIFF that they are of.
void set_tiff_storage(const Metadata& metadata, EncodeOptions& stored);

// One file of the pages, each of which is a whole file of this format. big_tiff: with offsets of 64
// bits, however small it is. lost: gets the name of a description of the first page's file that is
// left out, since it says how other pages lie.
Bytes join_tiff_pages(std::span<const Bytes> pages, bool big_tiff = false,
                      std::string* lost = nullptr);

}  // namespace impipe::io
