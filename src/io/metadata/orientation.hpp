// How a picture is to be turned, as the metadata of its file say.
#pragma once

#include <string>
#include <string_view>

namespace impipe::io {

// Each is 0 when nothing is said, else 1 to 8. A tag with another value says 1.
int exif_orientation(std::string_view exif);  // of a TIFF structure, with or without "Exif\0\0"
int xmp_orientation(std::string_view packet);

// The bytes in such a text of ImageMagick's: a line with a name, one with a size, then hexadecimal
// digits.
std::string raw_profile_bytes(std::string_view text);

// What the parts of one file say. EXIF counts before XMP, as in Pillow, and a chunk or segment of
// its own before ImageMagick's text in a PNG ("Raw profile type exif", "… APP1"), which programs
// that know no eXIf chunk keep from older files. Of two equal ones the first counts.
struct SaidOrientation {
  int exif = 0, raw_profile = 0, xmp = 0;
  void hear_exif(std::string_view block) {
    if (exif == 0) exif = exif_orientation(block);
  }
  void hear_xmp(std::string_view packet) {
    if (xmp == 0) xmp = xmp_orientation(packet);
  }
  // The text of such a chunk.
  void hear_raw_profile(std::string_view keyword, std::string_view text);
  int value() const {
    return exif != 0 ? exif : raw_profile != 0 ? raw_profile : xmp != 0 ? xmp : 1;
  }
};

}  // namespace impipe::io
