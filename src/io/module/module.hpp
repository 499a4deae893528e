// Finds and opens the codec modules at the first picture that needs it.
#pragma once

#include "io/module/codec_module.hpp"

namespace impipe::io {

// The program's own, of the formats that nearly every user has.
inline constexpr std::string_view main_module = "impipe_codec";
// OpenCV's imgcodecs: a second opinion on the pixels of those.
inline constexpr std::string_view opencv_module = "impipe_codec_opencv";

// What a module of this program makes images by.
inline HostImage make_image(const ImageType& type, Size size) { return HostImage(type, size); }

// The module of this name. Throws Error naming the places looked at when there is none, or one of
// another version.
const CodecModule& codec_module(std::string_view name);

}  // namespace impipe::io
