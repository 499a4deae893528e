// What a picture file says beside its pixels, carried from the input to the output.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/pixel_change.hpp"
#include "io/picture/axes.hpp"
#include "io/picture/format.hpp"
#include "io/picture/sample_type.hpp"
#include "io/picture/tiff_packing.hpp"

namespace impipe::io {

// What an EXR's header says beside how its pixels are stored: owner, timeCode, chromaticities, …
struct ExrAttribute {
  std::string name, type;
  std::string value;  // as it is in the file
  bool operator==(const ExrAttribute&) const = default;
};

// What the pixels of an EXR's channel are, by the file's numbers: whole numbers of 32 bits, floats
// of 16 and of 32.
enum class ExrType { whole = 0, half = 1, single = 2 };

// How an EXR is cut into tiles, by the file's numbers.
struct ExrTiles {
  std::uint32_t width = 0, height = 0;
  int levels = 0;    // 0 one, 1 a mip map, 2 a rip map
  int rounding = 0;  // of the sizes of levels: 0 down, 1 up
  bool empty() const { return width == 0; }
  bool operator==(const ExrTiles&) const = default;
};

// Channels of an EXR beside its picture (depth, identifiers, other layers), which go into an EXR of
// the result as they are.
struct ExrCarried {
  std::vector<std::string> names;
  std::vector<std::uint8_t> sample_bytes;  // of each; 0 where not every pixel has a sample
  std::shared_ptr<const std::vector<std::byte>> file;  // an EXR of one part, which has them
  bool empty() const { return names.empty(); }
  bool operator==(const ExrCarried&) const = default;
};

// How an EXR file stores its picture, so that an EXR made from it stores it alike.
struct ExrStorage {
  ExrType type = ExrType::single;
  int compression = 3;  // by the file's numbers: 0 none, 1 RLE, 2 ZIPS, 3 ZIP, 4 PIZ, 5 PXR24, …
  float dwa_level = 45.0f;
  float pixel_aspect = 1.0f;
  std::uint64_t line_order = 0;  // 0 downward, 1 upward, 2 any
  ExrTiles tiles;
  bool means = true;       // smaller levels of a map have means, else some of the values
  std::string name;        // of the part
  bool has_type = false;   // its header has the attribute `type`
  std::string layer;       // "diffuse." where the channels are diffuse.R, …
  std::string gray = "Y";  // what the channel of a gray picture is called
  // What --channels asked for: the channels of a picture of as many.
  struct Named {
    std::string name;
    ExrType type = ExrType::single;
    bool operator==(const Named&) const = default;
  };
  std::vector<Named> named;
  // The first and the last pixel, x before y: of what is stored, and of what is to be shown.
  std::array<int, 4> data_window{0, 0, -1, -1};
  std::array<int, 4> display_window{0, 0, -1, -1};
  std::vector<ExrAttribute> attributes;
  ExrCarried carried;
  // The names of further parts that go into an EXR of the result as they are.
  std::vector<std::string> other_parts;
  // Some colours lie under an alpha of 0: light that covers nothing, to be kept.
  bool glows = false;
  bool operator==(const ExrStorage&) const = default;
};

// Pixels a unit of length. Without a unit only the ratio of the two counts.
struct Resolution {
  enum class Unit { none, inch, centimetre, metre };
  double x = 1, y = 1;
  Unit unit = Unit::none;
  // What turns pixels a unit into pixels a metre; 1 without a unit.
  double to_metre() const {
    return unit == Unit::inch ? 1 / 0.0254 : unit == Unit::centimetre ? 100 : 1;
  }
  bool operator==(const Resolution&) const = default;
};

// How a JPEG stores its pixels, so that a JPEG made from it stores them alike.
struct JpegStorage {
  // A sample of the colour differences stands for so many pixels.
  int across = 2, down = 2;
  bool progressive = false;
  bool operator==(const JpegStorage&) const = default;
};

// The axes of an NPY, a letter each: Y and X, C for channels (or S), A for channels of which the
// last is alpha, others of pages. An array of one axis is "X".
struct NpyAxes {
  std::string letters;
  std::vector<std::int64_t> shape;
  bool operator==(const NpyAxes&) const = default;
};

struct Y4mStorage;  // io/formats/y4m/y4m.cpp
struct DpxStorage;  // io/formats/dpx/dpx.cpp

// How a Zarr stores its array, so that one made from it stores it alike.
struct ZarrStorage {
  int version = 2;         // of the format of arrays: 2 or 3
  std::int64_t chunk = 0;  // along the longer side; 0: not known
  bool operator==(const ZarrStorage&) const = default;
};

// A chunk of a PNG or a segment of a JPEG that is carried as it is, into files of its own format.
struct Piece {
  std::string name;   // for messages: "text 'Title'", "gamma"
  std::string bytes;  // the whole of it, its frame included
};

// Colours by the numbers of ITU-T H.273.
struct CodePoints {
  int primaries = 2, transfer = 2;  // 2: unspecified
};

struct Metadata {
  std::vector<std::byte> exif;  // a TIFF structure ("II*\0…"), orientation already reset to 1
  bool exif_of_tiff = false;    // it has what a TIFF said beside its pixels, foreign to photographs
  std::vector<std::byte> icc;   // an ICC profile
  std::string icc_name = "icc";      // as PNG has it
  std::optional<CodePoints> cicp;    // of an AVIF or HEIF without an ICC profile
  std::string xmp;                   // an XMP packet
  std::vector<std::byte> photoshop;  // image resources ("8BIM…"), IPTC among them
  std::optional<Resolution> resolution;
  std::vector<std::string> comments;
  std::vector<Piece> pieces;
  std::optional<Format> pieces_of;
  bool big_endian = false;          // of a TIFF: so are TIFFs made from it
  std::optional<TiffPacking> tiff;  // of a TIFF: likewise
  std::optional<JpegStorage> jpeg;  // of a JPEG of colours
  std::optional<ExrStorage> exr;    // of an EXR
  SampleType samples = SampleType::of_class;
  std::shared_ptr<const NpyAxes> npy;  // of an NPY
  int avif_bits = 0;                   // of an AVIF, so that one made from it has as many
  std::shared_ptr<const DpxStorage> dpx;
  std::shared_ptr<const ZarrStorage> zarr;
  std::vector<MeasuredAxis> measured;  // what axes measure, see ImageInfo
  // The axes along which the images of one file lie, told with the first of them; empty for the
  // others, and where axes have no names.
  std::vector<PageAxis> pages;
  std::vector<std::string> channel_names;  // of the pages along c, as OME-XML has them
  bool is_ome = false;                     // of an OME-TIFF
  bool wants_ome = false;                  // the result's name is that of an OME-TIFF
  bool is_page = false;  // the result is a page of a file, which says itself what they all are
  std::shared_ptr<const Y4mStorage> y4m;  // of a Y4M's frame
  // Of a FITS: the cards of its header that say nothing of how pixels are stored, as they are.
  std::vector<std::string> fits_cards;
  // Whether the file's samples are the decoded ones, bit for bit, and of the same meaning.
  bool stored_as_decoded = true;
  // What was done to the pixels since: the engine tells it before the result is encoded.
  PixelChange change;
  // Without what is for one format alone.
  bool empty() const {
    return exif.empty() && icc.empty() && xmp.empty() && photoshop.empty() && !resolution &&
           comments.empty();
  }
};

// What the pages of one file are, for what it says of all of them.
struct FileAxes {
  std::vector<PageAxis> pages;         // empty: they have no names
  std::vector<MeasuredAxis> measured;  // these, and x and y
  std::vector<std::string> channel_names;
  bool is_ome = false;    // a TIFF of them is to be an OME-TIFF
  bool of_files = false;  // they are pages of several inputs
};

// Bytes, uncompressed, of all metadata that are taken from one file.
inline constexpr std::int64_t max_metadata = std::int64_t{64} << 20;
// The name in messages of what is left out for that.
inline std::string beyond_limit(const std::string& name) {
  return name + " (beyond 64 MiB of metadata)";
}

// What reading made of a file's metadata.
struct MetadataRead {
  Metadata metadata;
  std::vector<std::string> lost;      // what there is and cannot be carried: "a second EXIF block"
  std::uint64_t room = max_metadata;  // bytes that may still be taken
  // Whether so many bytes more are within the limit, and then counts them; else their name is lost.
  bool takes(std::uint64_t bytes, const std::string& name) {
    const bool fits = bytes <= room;
    if (fits) room -= bytes;
    if (!fits) lose(beyond_limit(name));
    return fits;
  }
  // Adds a name, once, if it is one; so many that nobody reads them end in "more".
  void lose(const std::string& name) {
    constexpr std::size_t most = 16;
    if (name.empty() || lost.size() > most) return;
    const std::string fits = lost.size() < most ? name : "more";
    if (std::ranges::find(lost, fits) == lost.end()) lost.push_back(fits);
  }
};

}  // namespace impipe::io
