// How a picture is encoded, and what becomes of it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"
#include "io/picture/ycbcr.hpp"

namespace impipe::io {

// Of how many bits an EXR's floats are: like the EXR that the image was made from, 32 without one.
enum class ExrFloats { as_input, half, full };

// How much time a file's size is worth where that changes no pixel: PNG, TIFF, EXR, lossless WebP
// and JPEG XL, AVIF, HEIF, and JPEG's codes. as_input: the usual, and a TIFF or EXR is compressed
// as the one that the image was made from.
// g4: of TIFFs of one bit, by fax codes of group 4.
enum class Compression { as_input, fast, standard, small, g4 };

// How a TIFF's samples are stored. usual: in strips, or in bands of rows as the input's. pyramid:
// tiles, and the smaller images in SubIFDs. cog: a cloud-optimized GeoTIFF.
enum class TiffStorage { usual, strips, tiles, pyramid, cog };

// Sides of a Zarr's chunks and of a TIFF's tiles that are not asked for.
inline constexpr std::int64_t default_chunk = 512;

struct EncodeOptions {
  Compression compression = Compression::as_input;
  int quality = 95;       // of what is written with loss
  bool lossy = false;     // formats that can do both: with loss, of this quality
  bool lossless = false;  // asked for: what cannot do without loss is an error
  // The class that was asked for: counts that fit may be written in an integer one.
  std::optional<PixelClass> asked;
  ExrFloats exr_floats = ExrFloats::as_input;
  // Pixels that a sample of a JPEG's colour differences stands for, across and down; without it
  // those of the JPEG that the image was made from, else 2 and 2.
  std::optional<std::array<int, 2>> subsampling;
  YcbcrMatrix matrix = YcbcrMatrix::bt601;  // see DecodeOptions
  std::string frame_rate;                   // of a Y4M, "25:1"; empty: as before, else 25
  int zarr_version = 0;    // of a Zarr: 2 (OME-Zarr 0.4) or 3 (0.5); 0: as before, else 2
  std::int64_t chunk = 0;  // sides of chunks and tiles; 0: as before, else default_chunk
  TiffStorage tiff_storage = TiffStorage::usual;
  bool zarr_part = false;      // several processes write the chunks of a Zarr, without a pyramid
  std::int64_t first_row = 0;  // the first that is written, of a part
  bool zarr_means = true;      // its pyramid has means of pixels, else some of them
  // Set by `encode` from the metadata.
  SampleType samples = SampleType::of_class;
  ExrStorage exr;
  JpegStorage jpeg;
  bool big_endian_tiff = false;
  std::optional<TiffPacking> tiff;
  int avif_bits = 12;  // of uint16
  Metadata metadata;   // for the modules that put it into the file themselves
};

// A chunk of a picture that a device has packed.
using PackedChunk = std::span<const std::byte>;

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
// The level of what has one, for the fastest, the usual and the smallest files.
inline int level_of(Compression compression, int fast, int standard, int small) {
  return compression == Compression::fast    ? fast
         : compression == Compression::small ? small
                                             : standard;
}

}  // namespace impipe::io
