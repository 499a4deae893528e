// Metadata in the directories of a TIFF, and files of several pages.
#pragma once

#include <span>
#include <string>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/format_traits.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

struct TiffLayout;  // io/formats/tiff/tiff_header.hpp

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
// Describes so many pages of one layout by OME-XML where the file is to have it, or where they have
// axes and no description says so.
void describe_tiff(TiffFields& fields, const TiffLayout& layout, std::int64_t count,
                   const FileAxes& file, Lost& lost);
// Without those that the directory has.
void add_fields(TiffFields& written, TiffFields more);
// Whether a TIFF made from a file of these metadata is big-endian, as that was.
bool is_big_endian(const Metadata& metadata);
// How a file with the metadata is stored: like the TIFF that they are of.
void set_tiff_storage(const Metadata& metadata, EncodeOptions& stored);

// One file of the pages, each of which is a whole file of this format, and what it says of them.
// big_tiff: with offsets of 64 bits, however small it is. lost: gets the names of what the first
// page's file says of other pages, and of what this one cannot say of these. Throws Error for an
// OME-TIFF of pages that differ.
Bytes join_tiff_pages(std::span<const Bytes> pages, const FileAxes& file, Lost& lost,
                      bool big_tiff = false);

}  // namespace impipe::io
