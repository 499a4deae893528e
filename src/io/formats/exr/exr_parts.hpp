// Takes EXR files of several parts apart and puts parts together, without unpacking a pixel: parts
// that nobody looks into, deep ones among them, stay byte for byte.
#pragma once

#include <span>
#include <string>

#include "io/picture/image_info.hpp"

namespace impipe::io {

// A file of that part alone, from 0. Throws Error where some of it is missing or not in its place.
Bytes exr_part(std::span<const std::byte> file, int part);

struct ExrPartSource {
  std::span<const std::byte> file;
  int part = 0;
  std::string name;           // of a part that has none
  bool with_metadata = true;  // else without attributes that do not say how it is stored
};
// One file of these parts, which have different names. Where their display windows differ, it has
// the smallest that has all of them, since a file has one.
Bytes join_exr_parts(std::span<const ExrPartSource> parts);

}  // namespace impipe::io
