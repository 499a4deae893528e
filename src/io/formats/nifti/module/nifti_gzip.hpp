// Planes of a NIfTI in a gzip file.
#pragma once

#include "io/module/library_codec.hpp"

namespace impipe::io {

// Unpacks plane after plane; going back begins the file again.
std::unique_ptr<PageDecoder> open_nifti_pages(InputBytes bytes, MakeImage make_image);

}  // namespace impipe::io
