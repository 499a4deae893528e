// How a JPEG is stored: like that which the image was made from.
#pragma once

#include "io/picture/encoding.hpp"

namespace impipe::io {

JpegStorage jpeg_storage_for(const Metadata& metadata, const EncodeOptions& options);

}  // namespace impipe::io
