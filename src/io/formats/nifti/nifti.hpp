// NIfTI-1 and -2: the header, and planes of its volume.
#pragma once

#include <string>
#include <string_view>

#include "io/module/codec_module.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {

constexpr std::int64_t nifti_header_bytes = 540;  // at most, without extensions

// Types of voxels, by the format's numbers.
enum class NiftiType {
  uint8 = 2,
  int16 = 4,
  int32 = 8,
  float32 = 16,
  float64 = 64,
  rgb24 = 128,
  int8 = 256,
  uint16 = 512,
  uint32 = 768,
  int64 = 1024,
  uint64 = 1280,
  rgba32 = 2304
};

struct NiftiHeader {
  ImageInfo info;
  bool big_endian = false;
  NiftiType type = NiftiType::uint8;
  int voxel_bytes = 1;
  std::int64_t data = 0;  // offset of the voxels, of which x goes fastest, then y
  bool scaled = false;    // numbers are slope x what is stored + offset
  double slope = 1, offset = 0;
  // Of a pixel, in millimetres; 0: not said. has_unit: else only their ratio counts.
  double pixel_width = 0, pixel_height = 0;
  bool has_unit = false;
  bool has_place = false;  // it says where voxels lie: qform, sform
  std::string description;

  std::int64_t plane_bytes() const { return info.stored.pixels() * voxel_bytes; }
};

// Whether a file's first bytes may be those of one.
bool is_nifti(std::string_view head);
// Whether such a file has a header alone, whose voxels lie in another file (.img).
bool is_nifti_pair(std::string_view head);
// The beginning of one file of both, behind which the other file's bytes follow.
std::string nifti_of_pair(std::string_view head);
// Of the first bytes, unpacked, of a file. Throws Error.
NiftiHeader nifti_header(std::string_view head);
// The image of a page of which these are the bytes. What single cannot hold is counted.
HostImage nifti_plane(const NiftiHeader& header, const std::byte* plane, Inexact& inexact,
                      MakeImage make_image);

}  // namespace impipe::io
