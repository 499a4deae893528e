// The header parsers behind probe, and the two built-in formats' headers in full.
#pragma once

#include <string>
#include <vector>

#include "io/byte_source.hpp"
#include "io/codec.hpp"

namespace impipe::io {

ImageInfo png_header(const ByteSource& source);
ImageInfo jpeg_header(const ByteSource& source);
ImageInfo tiff_header(const ByteSource& source, int page = 0);
ImageInfo bmp_header(const ByteSource& source);
ImageInfo webp_header(const ByteSource& source);

// The largest side: above it the codecs' 32-bit sizes would overflow.
inline constexpr std::int64_t max_side = (std::int64_t{1} << 24) - 1;

struct PnmHeader {
  ImageInfo info;
  char kind = '5';             // the character after P
  std::int64_t maxval = 1;     // of PFM: unused
  bool little_endian = false;  // of PFM
  std::int64_t data = 0;       // offset of the pixels
};
PnmHeader pnm_header(const ByteSource& source);

struct NpyHeader {
  ImageInfo info;
  char kind = 'u';  // numpy's: b, u, i, f
  int item_bytes = 1;
  bool big_endian = false;
  bool fortran_order = false;
  int channels = 1;  // as stored, an alpha counted
  std::int64_t data = 0;
};
NpyHeader npy_header(const ByteSource& source);

// "8-bit", "16-bit float": the beginning of ImageInfo::detail.
std::string depth_text(int bits, bool is_float = false);

HostImage decode_bmp(std::span<const std::byte> bytes);
HostImage decode_pnm(std::span<const std::byte> bytes);
HostImage decode_npy(std::span<const std::byte> bytes);
Bytes encode_bmp(const HostImage& image);
Bytes encode_pnm(const HostImage& image);
Bytes encode_pfm(const HostImage& image);
Bytes encode_npy(const HostImage& image);

}  // namespace impipe::io
