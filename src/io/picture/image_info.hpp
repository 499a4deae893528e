// What the header of a picture file says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/display_window.hpp"
#include "core/image.hpp"
#include "io/picture/axes.hpp"
#include "io/picture/format.hpp"
#include "io/picture/sample_type.hpp"
#include "io/picture/tiff_packing.hpp"

namespace impipe::io {

using Bytes = std::vector<std::byte>;

// What is left of a picture of which so many pixels of each side are read as one; what remains of
// a side counts from a half on.
inline Size shrunk(Size size, int by) {
  const auto part = [by](std::int64_t side) {
    return std::max<std::int64_t>(1, (side + by / 2) / by);
  };
  return {part(size.width), part(size.height)};
}

// The largest side: above it the codecs' 32-bit sizes would overflow.
inline constexpr std::int64_t max_side = (std::int64_t{1} << 24) - 1;

// "8-bit", "16-bit float": the beginning of ImageInfo::detail.
inline std::string depth_text(int bits, bool is_float = false) {
  return std::to_string(bits) + "-bit" + (is_float ? " float" : "");
}

// Of integers, whose white is that of the class.
inline ImageType type_of(PixelClass cls, int channels, bool alpha) {
  return {.cls = cls, .channels = channels, .alpha = alpha, .white = class_max(cls)};
}
// Of numbers of a header.
inline Size size_of(std::uint64_t width, std::uint64_t height) {
  return {static_cast<std::int64_t>(width), static_cast<std::int64_t>(height)};
}

// Above the range of any file; keeps sums of what a header claims within 64 bits.
inline std::int64_t whole_bytes(double bytes) {
  return static_cast<std::int64_t>(std::ceil(std::min(bytes, 1e18)));
}
constexpr std::int64_t deflate_ratio = 1032;  // at most (zlib.net/zlib_tech.html)

struct TiffPages;  // io/formats/tiff/tiff_header.hpp
struct ZarrImage;  // io/formats/zarr/zarr_array.hpp
struct Inexact;    // io/picture/numbers.hpp

// What files do not say themselves, and how they are read then.
struct Reading {
  // Of an EXR, the names of the channels that make the picture, each as it is stored; {"all"}: all.
  // Other formats have no names, which is an error then.
  std::vector<std::string> channels;
  std::string axes;  // of NPYs, see NpyAxes; empty: guessed. Other formats name theirs
  // Of DICOMs and NIfTIs, which numbers become black to white: "file" or "CENTRE,WIDTH"; empty: the
  // numbers stay.
  std::string window;
  bool ink = false;  // CMYK stays four channels, each 0 (none) to white, instead of RGB
};

// Numbers that are shown as black to white, by DICOM's formulas (PS3.3 C.11.2.1).
struct ValueWindow {
  enum class Shape { linear, linear_exact, sigmoid };
  double centre = 0, width = 1;
  Shape shape = Shape::linear;
  bool inverted = false;  // the smallest are white
  // Instead of a centre and a width, a lookup table (PS3.3 C.11.2.1.1): what numbers from `first`
  // on are shown as, those beyond its ends as its ends.
  struct Table {
    std::int64_t first = 0;
    double white = 65535;
    std::vector<std::uint16_t> entries;
  };
  std::shared_ptr<const Table> table = {};
  ImageType numbers;  // the type of the numbers
};

// What the header of a file says; no pixel is looked at.
struct ImageInfo {
  Format format = Format::png;
  ImageType type;       // of the decoded image
  Size stored;          // as stored; `size()` is as decoded
  int orientation = 1;  // EXIF: 1 to 8, applied by decode
  bool lossy = false;   // stored with loss: JPEG, most WebP
  int pages = 1;        // pictures in the file: pages of a TIFF, frames of an animation, parts
  int page = 0;         // which of them this is
  Size tile;            // of a tiled TIFF; a tile is unpacked as a whole
  // Of an EXR or a DPX, in pixels of the decoded image, where it is another than that.
  std::optional<DisplayWindow> display;
  int shrink = 1;  // decoding: so many pixels of each side are read as one, of a JPEG
  // Fewer bytes than this cannot hold such an image, and why; 0 where there is no bound.
  std::int64_t min_bytes = 0;
  std::string min_why;
  std::int64_t metadata_bytes = 0;  // that compressed metadata may become, at most
  int carried = 0;           // channels of an EXR beside the picture, which are kept as they are
  double carried_bytes = 0;  // of their samples
  // Of an EXR of several parts: those that hold pictures, from 0, and what each part is called.
  std::vector<int> pictures;
  std::vector<std::string> page_names;
  // Of an EXR: the channels that the picture is made of, where they were asked for by name.
  std::vector<std::string> named;
  SampleType samples = SampleType::of_class;  // as stored
  // Of an NPY whose axes were guessed: their letters, and what was taken for what: "(20, 64, 64) is
  // read as 20 pages".
  std::string guessed_axes, guess;
  std::vector<PageAxis> axes;          // of the pages, the slowest first; empty: they have no names
  std::vector<MeasuredAxis> measured;  // those axes, and x and y, that the file gives distances of
  std::optional<ValueWindow> window;   // decoding: by which numbers become a picture
  std::optional<double> slice;   // of a DICOM of one page: its place in the volume of its series
  std::string detail;            // "8-bit palette, interlaced", for `impipe info`
  bool progressive = false;      // a JPEG of which all is read before the first row is there
  std::optional<Format> blocks;  // of a TIFF whose strips or tiles are files of this format
  std::optional<TiffPacking> tiff;
  // While a TIFF is read page after page: where its pages are.
  std::shared_ptr<const TiffPages> tiff_pages;
  std::shared_ptr<const ZarrImage> zarr;  // of a Zarr: its metadata
  // While a file is decoded: where values are counted that single does not hold.
  std::shared_ptr<Inexact> inexact;
  Size size() const { return orientation >= 5 ? Size{stored.height, stored.width} : stored; }
  // Memory of the decoded image.
  std::int64_t decoded_bytes() const {
    return stored.pixels() * (type.channels + (type.alpha ? 1 : 0)) * bytes_of(type.cls);
  }
};

}  // namespace impipe::io
