// Pictures as files: reading, recognising, decoding and encoding them. Every function may be
// called from several threads at once. Errors give the reason alone ("truncated PNG: …"); the
// caller, who knows the path, puts it in front.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/coded_jpeg.hpp"
#include "core/display_window.hpp"
#include "core/image.hpp"
#include "io/format.hpp"
#include "io/metadata.hpp"
#include "io/ycbcr.hpp"

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

struct TiffPages;  // io/tiff_header.hpp
struct Inexact;    // io/numbers.hpp

// What files do not say themselves, and how they are read then.
struct Reading {
  // Of an EXR, the names of the channels that make the picture, each as it is stored; {"all"}: all.
  // Other formats have no names, which is an error then.
  std::vector<std::string> channels;
  std::string axes;  // of NPYs, see NpyAxes; empty: guessed. Other formats name theirs
};
// Throws Error (usage) for letters that no NPY can have: "--axes ZX: it has no Y".
void check_axes(const std::string& axes);

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
  std::string detail;            // "8-bit palette, interlaced", for `impipe info`
  bool progressive = false;      // a JPEG of which all is read before the first row is there
  std::optional<Format> blocks;  // of a TIFF whose strips or tiles are files of this format
  // While a TIFF is read page after page: where its pages are.
  std::shared_ptr<const TiffPages> tiff_pages;
  // While a file is decoded: where values are counted that single does not hold.
  std::shared_ptr<Inexact> inexact;
  Size size() const { return orientation >= 5 ? Size{stored.height, stored.width} : stored; }
  // Memory of the decoded image.
  std::int64_t decoded_bytes() const {
    return stored.pixels() * (type.channels + (type.alpha ? 1 : 0)) * bytes_of(type.cls);
  }
};

// The whole of a picture file. Looks at the first bytes before it reads the rest, so that a huge
// file that is no picture costs nothing. Throws Error (file_failed): "no such file", "is a
// directory", "permission denied", "empty file", "not an image (starts with '…')".
Bytes read_picture(const std::filesystem::path& path);
// How many bytes of pipes may be kept in memory, and are not yet; several threads take from it.
using PipeBudget = std::atomic<std::int64_t>;
class FrameReader;  // io/frame_reader.hpp
// stdin and pipes: up to the end. More than the budget has is an error that names --memory.
// Where `frames` is given, a stream of frames is not read but for its header, which `frames` has.
Bytes read_picture(int file_descriptor, PipeBudget& budget,
                   std::shared_ptr<FrameReader>* frames = nullptr);
// Whether the content of a file is a picture; false also for what cannot be read.
bool is_picture(const std::filesystem::path& path);

// `page`: which picture of the file, from 0; without it the first.
ImageInfo probe(std::span<const std::byte> bytes, std::optional<int> page = {},
                const Reading& reading = {});
// Reads only the header, but of a pipe, which can be read only once, everything, into `content`, or
// what `frames` goes on with, see read_picture.
ImageInfo probe(const std::filesystem::path& path, Bytes& content, PipeBudget& budget,
                const Reading& reading = {}, std::shared_ptr<FrameReader>* frames = nullptr);
ImageInfo probe(const std::filesystem::path& path, std::optional<int> page = {},
                const Reading& reading = {});

// A file of which most pages need those before them, as frames of an animation do. Its bytes stay
// meanwhile; used by one thread at a time. Errors carry the reason alone.
class PageDecoder {
 public:
  virtual ~PageDecoder() = default;
  // Any page of the file. Going on behind the last one costs least.
  virtual HostImage decode(const ImageInfo& info) = 0;
};

// What is known of a file that is read page after page, once its first page was read.
struct OpenPages {
  std::unique_ptr<PageDecoder> decoder;
  std::optional<ImageInfo> frame;         // of an animation, whose frames are alike
  std::shared_ptr<const TiffPages> tiff;  // of a TIFF
};

struct DecodeOptions {
  // More pixels than this is an error, found before anything is allocated.
  std::int64_t max_pixels = std::int64_t{1} << 30;
  bool metadata = true;  // false: leave Decoded::metadata empty (--strip)
  // From 0. Without it, a file of several pages is an error.
  std::optional<int> page;
  // Of a file that is read page after page: what its pages leave for those that follow.
  OpenPages* open_pages = nullptr;
  // The pages that go into one file, ascending, `page` among them; empty: it goes into one alone.
  // What metadata say of pages is made true of those.
  std::span<const int> pages_together = {};
  Reading reading;
  YcbcrMatrix matrix = YcbcrMatrix::bt601;  // of colours that do not say theirs: Y4M
  // Of JPEGs: how many pixels of each side are read as one: 1, 2, 4 or 8. None: 1. See
  // `shrunk`; `info` is of what it was read from.
  std::function<int(const ImageInfo&)> shrink;
  // JPEGs that a device may decode stay as they are: see Decoded::coded.
  bool keep_coded = false;
};

struct Decoded {
  HostImage image;
  // Where it was asked for, and this is a JPEG that a device may decode: then `image` has a type,
  // and no pixels.
  std::shared_ptr<const CodedJpeg> coded;
  Metadata metadata;
  ImageInfo info;
  // What the file holds beside these, for messages: "further pictures (MPF)".
  std::vector<std::string> lost;
};
// Channels are red, green, blue; alpha is straight; the EXIF orientation is applied.
Decoded decode(std::span<const std::byte> bytes, const DecodeOptions& options = {});

// Of how many bits an EXR's floats are: like the EXR that the image was made from, 32 without one.
enum class ExrFloats { as_input, half, full };

// How much time a file's size is worth where that changes no pixel: PNG, TIFF, EXR, lossless WebP
// and JPEG XL, AVIF, HEIF, and JPEG's codes.
enum class Compression { fast, standard, small };

struct EncodeOptions {
  Compression compression = Compression::standard;
  int quality = 95;       // of what is written with loss
  bool lossy = false;     // formats that can do both: with loss, of this quality
  bool lossless = false;  // asked for: what cannot do without loss is an error
  bool as_asked = false;  // a class was asked for: counts that fit may be written in an integer one
  ExrFloats exr_floats = ExrFloats::as_input;
  // Pixels that a sample of a JPEG's colour differences stands for, across and down; without it
  // those of the JPEG that the image was made from, else 2 and 2.
  std::optional<std::array<int, 2>> subsampling;
  YcbcrMatrix matrix = YcbcrMatrix::bt601;  // see DecodeOptions
  std::string frame_rate;                   // of a Y4M, "25:1"; empty: as before, else 25
  // Set by `encode` from the metadata.
  SampleType samples = SampleType::of_class;
  ExrStorage exr;
  JpegStorage jpeg;
  bool big_endian_tiff = false;
  int avif_bits = 12;  // of uint16
  Metadata metadata;   // for the modules that put it into the file themselves
};

struct Encoded {
  Bytes bytes;
  std::int64_t clipped = 0;    // values outside 0 … white, or not a number
  bool alpha_dropped = false;  // the format holds none
  // The type of the input's samples, where it does not hold the result, which is float32 therefore.
  SampleType widened = SampleType::of_class;
  // What the format cannot hold, for messages: "EXIF", "alpha".
  std::vector<std::string> lost;
  // Of formats that hold streams: what all pictures of one have in common, and how many bytes at
  // the beginning say so; the pictures after the first go without them.
  std::string common;
  std::size_t head = 0;
};
// Converts the image to `cls` (which the format must hold, see output_type) and encodes it.
// Throws Error when an image without a white goes to an integer class.
Encoded encode(const HostImage& image, const Metadata& metadata, Format format, PixelClass cls,
               const EncodeOptions& options = {});

// How a JPEG is stored: like that which the image was made from.
JpegStorage jpeg_storage_for(const Metadata& metadata, const EncodeOptions& options);

// Whether pictures of one kind follow each other in such a file, as many as there may be.
inline bool writes_stream(Format format) { return format == Format::y4m || format == Format::raw; }
// Whether each of several pictures in such a file can be read, and written.
inline bool reads_pages(Format format) {
  return format == Format::tiff || format == Format::webp || format == Format::gif ||
         format == Format::jxl || format == Format::avif || format == Format::heif ||
         format == Format::exr || format == Format::y4m || format == Format::fits ||
         format == Format::npy;
}
inline bool writes_pages(Format format) {
  return format == Format::tiff || format == Format::exr || format == Format::npy ||
         writes_stream(format);
}
// One file of the pages, each of which is a whole file of this format. big_tiff: with offsets of 64
// bits, however small it is.
Bytes join_tiff_pages(std::span<const Bytes> pages, bool big_tiff = false);
// One array of the pages, each of which is an array of one type and shape. axes: of the NPY that
// they are made from, or null; those that count pages are kept if all of them are here, else there
// is one, and without `axes` it is the first. Throws Error where pages differ.
Bytes join_npy_pages(std::span<const Bytes> pages, const NpyAxes* axes);

// The file with the metadata that its format holds, as `encode` writes it. image: its pixels are
// read where it wants_thumbnail alone.
Bytes file_with_metadata(Bytes file, Format format, const Metadata& metadata,
                         const HostImage& image, std::vector<std::string>& lost);

// What an image is written as.
struct OutputType {
  Format format = Format::png;
  PixelClass cls = PixelClass::uint8;
  bool operator==(const OutputType&) const = default;
};
// The rule of the outputs: the input's format and depth, unless asked otherwise. `input` is null
// for a source. `wanted` is from --format or the output's extension, `wanted_class` from -d.
OutputType output_type(const ImageInfo* input, const ImageType& result,
                       std::optional<Format> wanted = {},
                       std::optional<PixelClass> wanted_class = {});

// Converts by the rules of im2uint8, im2uint16 and im2single, relative to white: white goes to the
// white of the class. To logical: whatever is not 0 is true. Adds to `clipped` the values that were
// saturated. Alpha, of whatever class it was read in, goes to the full range of the class.
HostImage convert(const HostImage& image, PixelClass cls, std::int64_t* clipped = nullptr);

// An .npy file of doubles, in C order; shape as numpy says it: {n}, {rows, columns}.
Bytes encode_npy(std::span<const double> values, std::span<const std::int64_t> shape);

}  // namespace impipe::io
