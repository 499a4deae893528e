// DPX (SMPTE 268M): pictures of film, 8 to 16 bits, behind a header of many fields, which goes on
// into a DPX made from one.
#pragma once

#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

struct DpxHeader {
  ImageInfo info;
  bool big_endian = true;
  int bits = 10;
  int packing = 1;  // 0 packed, 1 filled (method A: spare bits below), 2 filled (method B: above)
  bool alpha_first = false, blue_first = false;  // ABGR
  bool bottom_up = false, right_to_left = false;
  std::int64_t data = 0;       // offset of the pixels
  std::int64_t row_bytes = 0;  // from one row to the next
};
DpxHeader dpx_header(const ByteSource& source);
HostImage decode_dpx(std::span<const std::byte> bytes);

// How a DPX stores its picture, so that one made from it stores it alike, and what else it says.
struct DpxStorage {
  std::string header;  // all that stands before the pixels
  bool big_endian = true;
  int bits = 10, packing = 1;
};
// Adds to `lost` what is left out of a header of more than max_metadata bytes.
std::shared_ptr<const DpxStorage> dpx_storage(std::span<const std::byte> bytes,
                                              std::vector<std::string>& lost);
// Names what files of other formats do not say.
void name_losses(const DpxStorage& storage, std::vector<std::string>& lost);

// metadata: of the picture that the image was made from, its DPX header among them if it has one.
Bytes encode_dpx(const HostImage& image, const Metadata& metadata, std::vector<std::string>& lost);

}  // namespace impipe::io
