// Numbers without a white that are shown as a picture: what is black, what is white.
#pragma once

#include <string>

#include "io/picture/image_info.hpp"

namespace impipe::io {

// Whether --window is for files of this format.
inline bool takes_window(Format format) {
  return format == Format::dicom || format == Format::nifti;
}
// Throws Error (usage) for what is neither "file" nor "CENTRE,WIDTH".
void check_window(const std::string& window);
// Makes `info` that of the picture which --window asks for. Before, info.window is that of the
// file, if it has one; after, that by which decoded numbers become the picture. Throws Error where
// the file has none.
void choose_window(ImageInfo& info, const std::string& window);
// The picture of 8 bits.
HostImage through_window(const HostImage& numbers, const ValueWindow& window);

}  // namespace impipe::io
