// What a TIFF's directory says of its pixels, and which image that makes. The program reads it to
// know an image before it is decoded; the codec module compiles it too and compares it with what
// libtiff read, so that one file cannot mean two pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

// The numbers of TIFF 6.0 that decide what an image holds.
enum TiffPhotometric : std::uint64_t {
  tiff_white_is_zero = 0,
  tiff_black_is_zero = 1,
  tiff_rgb = 2,
  tiff_palette = 3,
  tiff_cmyk = 5,
  tiff_ycbcr = 6,
};
enum TiffNumbers : std::uint64_t {
  tiff_unsigned = 1,
  tiff_signed = 2,
  tiff_float = 3,
  tiff_untyped = 4,  // read as unsigned, as libtiff does
};
enum TiffExtra : std::uint64_t { tiff_associated_alpha = 1, tiff_straight_alpha = 2 };

// The layout of the pixels of one directory; the defaults are those of the format.
struct TiffLayout {
  Size size;
  std::uint64_t bits = 1, samples = 1, numbers = tiff_unsigned, photometric = tiff_black_is_zero;
  std::uint64_t compression = 1, planar = 1, ink_set = 1;
  int orientation = 1;
  Size tile;                               // of no pixels: stored in strips
  std::int64_t depth = 1, tile_depth = 1;  // planes of a volume (ImageDepth), and of a tile of it
  std::vector<std::uint64_t> extra;        // what each sample after the colours is
  bool operator==(const TiffLayout&) const = default;

  bool is_gray() const { return photometric <= tiff_black_is_zero; }
  bool is_palette() const { return photometric == tiff_palette; }
  bool is_cmyk() const { return photometric == tiff_cmyk; }
  bool is_ycbcr() const { return photometric == tiff_ycbcr; }
  // Samples of a pixel that are colours, inks or places in a palette.
  std::uint64_t colours() const { return is_gray() || is_palette() ? 1 : is_cmyk() ? 4 : 3; }
  // Samples that nothing is said of are of no known kind (0); some versions of libtiff do this.
  void name_all_samples();
  // Which sample of a pixel is its alpha, the first that is declared as one; -1 for none.
  int alpha_sample() const;
};

// The planes that a directory is of: its own, and those without directories that follow it.
struct TiffPlanes {
  std::int64_t count = 1;    // that are read
  std::int64_t stride = 0;   // bytes from one to the next; 0 of one plane, or of tiles
  std::int64_t claimed = 1;  // that there are, as the claimant says
  const char* claimant = "";
};

// Where a file's pages are: those that are no reduced images and no masks. For a file that is read
// page after page.
struct TiffPages {
  struct Run {                   // pages of one directory
    std::int64_t directory = 0;  // where it begins
    int first = 0;               // its first page, from 0
    TiffPlanes planes;
  };
  std::vector<Run> runs;
  int count = 0;
  std::vector<PageAxis> axes;          // see ImageInfo
  std::vector<MeasuredAxis> measured;  // see ImageInfo; of pages that have this size
  Size size;
  int series = 1;             // pictures that OME-XML describes
  int others = 0;             // reduced images and masks
  bool has_children = false;  // pictures in sub-directories
};

struct TiffHeader {
  TiffLayout layout;
  std::uint64_t predictor = 1;
  std::int64_t directory = 0;  // where the directory of the picture begins
  int page = 0, pages = 1;
  std::vector<PageAxis> axes;  // of the pages
  std::vector<MeasuredAxis> measured;
  int series = 1;     // as in TiffPages
  int plane = 0;      // of the directory's planes
  TiffPlanes planes;  // of the directory
  int others = 0;     // as in TiffPages
  bool has_children = false;
  bool says_orientation = false;  // the layout's has a tag
  std::string xmp;                // its packet
};
// Reads every directory of the file.
TiffPages find_tiff_pages(const ByteSource& source);
// The header of a page, from 0. known: of the file, where its pages are; null reads every
// directory.
TiffHeader read_tiff(const ByteSource& source, int page = 0, const TiffPages* known = nullptr);

// The image that such pixels become. Throws Error for what an image cannot hold.
ImageType image_type_of(const TiffLayout& layout);

}  // namespace impipe::io
