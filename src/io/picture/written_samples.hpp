// Numbers that have no class of their own: as what type a file of TIFF or NPY stores them.
#pragma once

#include "io/picture/encoding.hpp"

namespace impipe::io {

// The type of samples that such an image has in a file, if that type holds them: the input's, or
// `of_class`.
SampleType wanted_samples(const ImageType& stored, const Metadata& metadata,
                          const EncodeOptions& options);
// The same, of values that it holds; else out.widened says which type it would have been.
SampleType samples_for(const HostImage& image, const Metadata& metadata,
                       const EncodeOptions& options, Encoded& out);

}  // namespace impipe::io
