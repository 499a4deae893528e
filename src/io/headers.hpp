// The header parsers behind probe, and the two built-in formats' headers in full.
#pragma once

#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/codec.hpp"

namespace impipe::io {

struct TiffHeader;

ImageInfo png_header(const ByteSource& source);
ImageInfo jpeg_header(const ByteSource& source);
ImageInfo tiff_header(const TiffHeader& header);
ImageInfo bmp_header(const ByteSource& source);
ImageInfo webp_header(const ByteSource& source);

// The largest side: above it the codecs' 32-bit sizes would overflow.
inline constexpr std::int64_t max_side = (std::int64_t{1} << 24) - 1;

struct PnmHeader {
  ImageInfo info;
  char kind = '5';             // the character after P
  std::int64_t maxval = 1;     // what displays as white; of PFM: unused
  bool little_endian = false;  // of PFM
  std::int64_t data = 0;       // offset of the pixels
};
PnmHeader pnm_header(const ByteSource& source);

struct NpyHeader {
  ImageInfo info;
  char kind = 'u';  // numpy's: b, u, i, f
  int item_bytes = 1;
  bool big_endian = false;
  int channels = 1;       // as stored, an alpha counted
  std::int64_t data = 0;  // offset of the pixels
  std::int64_t items = 0;
  int arrays = 1;  // one behind the other in the file
  NpyAxes axes;
  // Distances, in items, between neighbours along x, y, the channels, and each axis of pages.
  std::int64_t step_x = 1, step_y = 0, step_channel = 0;
  struct PageAxis {
    std::int64_t count = 1, step = 0;
  };
  std::vector<PageAxis> page_axes;
};
// axes: see Reading.
NpyHeader npy_header(const ByteSource& source, const std::string& axes = "");

ImageInfo gif_header(const ByteSource& source);
int jp2_orientation(const ByteSource& source);  // as EXIF or XMP say, else 1
ImageInfo qoi_header(const ByteSource& source);

struct TgaHeader {
  ImageInfo info;
  int kind = 2;                 // 1 palette, 2 colours, 3 gray
  bool packed = false;          // in run lengths
  int bits = 24, map_bits = 0;  // of a pixel; of a colour of the palette
  int map_first = 0, map_count = 0;
  bool top_down = false, right_to_left = false;
  bool premultiplied = false;
  bool fourth_left_out =
      false;  // a byte a pixel that differs, and is no alpha by the extension area
  std::int64_t map = 0, data = 0;  // offsets
};
TgaHeader tga_header(const ByteSource& source);

struct HdrHeader {
  ImageInfo info;
  bool by_columns = false, bottom_up = false, right_to_left = false;
  std::int64_t data = 0;
};
HdrHeader hdr_header(const ByteSource& source);

// "8-bit", "16-bit float": the beginning of ImageInfo::detail.
std::string depth_text(int bits, bool is_float = false);

HostImage decode_bmp(std::span<const std::byte> bytes);
HostImage decode_pnm(std::span<const std::byte> bytes);
// The page of info.page, as npy_header read it by the same `axes`.
HostImage decode_npy(std::span<const std::byte> bytes, const ImageInfo& info,
                     const std::string& axes);
// The type of samples that such an image has in a file, if that type holds them: the input's, or
// `of_class`.
SampleType wanted_samples(const ImageType& stored, const Metadata& metadata, Format format,
                          const EncodeOptions& options);
HostImage decode_qoi(std::span<const std::byte> bytes);
HostImage decode_tga(std::span<const std::byte> bytes);
HostImage decode_hdr(std::span<const std::byte> bytes);
Bytes encode_qoi(const HostImage& image);
Bytes encode_tga(const HostImage& image);
Bytes encode_hdr(const HostImage& image);
Bytes encode_bmp(const HostImage& image);
Bytes encode_pnm(const HostImage& image);
Bytes encode_pam(const HostImage& image);
Bytes encode_pfm(const HostImage& image);
// axes: of the NPY that the image was made from, or null.
Bytes encode_npy(const HostImage& image, const NpyAxes* axes, SampleType samples);
// Rows of pixels without a header, each one's channels side by side.
Bytes encode_raw(const HostImage& image);
// "640x480 rgb24", in ffmpeg's words.
std::string raw_kind(const HostImage& image);

}  // namespace impipe::io
