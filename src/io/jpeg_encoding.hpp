// JPEGs whose data a device encodes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/coded_jpeg.hpp"
#include "io/codec.hpp"

namespace impipe::io {

// Whether a device may encode a JPEG with this beside its pixels.
bool may_be_coded(const Metadata& metadata, const EncodeOptions& options);

// What an image is to become that would be encoded as a JPEG with these options; null where a
// device can't, or its pixels are needed for more.
std::shared_ptr<const CodedJpeg> coded_output(const ImageType& type, Size size,
                                              const Metadata& metadata,
                                              const EncodeOptions& options);

// What `encode` gives, of an image that coded_output knows, from the data that a device has made of
// it: without stuffed zeros.
Encoded encode_coded(std::span<const std::byte> data, const ImageType& type, Size size,
                     const Metadata& metadata, const EncodeOptions& options);

}  // namespace impipe::io
