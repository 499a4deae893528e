// Camera raw that is a TIFF: what tells it from pictures.
#pragma once

#include "io/bytes/byte_source.hpp"

namespace impipe::io {

// Whether one of the directories of a TIFF has a sensor's values instead of colours.
bool is_camera_raw(const ByteSource& source);

}  // namespace impipe::io
