// What the header of a DICOM says of its pixels (PS3.3 C.7.6, C.8, C.11).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/formats/dicom/module/dicom_file.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// A lookup table: what stored numbers from `first` on become.
struct DicomTable {
  std::int64_t first = 0;
  std::vector<std::uint16_t> entries;
  std::uint16_t at(std::int64_t stored) const {
    const std::int64_t i = stored - first, last = std::ssize(entries) - 1;
    return entries[static_cast<std::size_t>(i < 0 ? 0 : i > last ? last : i)];
  }
};

// How stored numbers become values.
struct DicomPixels {
  ImageInfo info;
  int allocated = 8, stored = 8, high_bit = 7;  // bits of a sample
  bool is_signed = false;
  bool planar = false;      // channels one behind the other
  int samples = 1;          // of a pixel, as stored
  std::string photometric;  // "MONOCHROME2"
  double slope = 1, offset = 0;
  std::optional<DicomTable> modality;  // instead of these
  bool scaled() const { return slope != 1 || offset != 0; }
  bool inverted() const { return photometric == "MONOCHROME1"; }
  bool has_palette() const { return photometric == "PALETTE COLOR"; }
  bool is_ybr() const { return photometric.starts_with("YBR_"); }
};

// Of a page, from 0. Throws Error.
DicomPixels dicom_pixels(const DicomFile& file, int page);
// Red, green and blue.
std::vector<DicomTable> dicom_palette(const DicomFile& file, bool is_signed);
MetadataRead dicom_metadata(const DicomFile& file, int page);

}  // namespace impipe::io
