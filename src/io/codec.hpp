// Pictures as files: reading, recognising, decoding and encoding them. Every function may be
// called from several threads at once. Errors give the reason alone ("truncated PNG: …"); the
// caller, who knows the path, puts it in front.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/formats.hpp"
#include "io/picture/decoding.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

// What an image is written as.
struct OutputType {
  Format format = Format::png;
  PixelClass cls = PixelClass::uint8;
  PixelClass wanted = cls;  // by the rule of the outputs, whatever the format holds
  bool operator==(const OutputType&) const = default;
};

// The format by the first bytes. Throws Error: "empty file", "not an image (starts with '…')".
Format sniff_or_fail(std::span<const std::byte> head);
// `page`: which picture of the file, from 0; without it the first.
ImageInfo probe(std::span<const std::byte> bytes, std::optional<int> page = {},
                const Reading& reading = {});
// The same of a file on disk, of which the header alone is read.
ImageInfo probe(const ByteSource& source, std::optional<int> page = {},
                const Reading& reading = {});
// What the file says beside its pixels. info: what probe said. pages_together: see DecodeOptions.
MetadataRead read_metadata(std::span<const std::byte> file, const ImageInfo& info,
                           std::span<const int> pages_together = {},
                           std::span<const PageAxis> axes = {});
// Channels are red, green, blue; alpha is straight; the EXIF orientation is applied.
Decoded decode(std::span<const std::byte> bytes, const DecodeOptions& options = {});

// Converts the image to `cls` (which the format must hold, see output_type) and encodes it.
// Throws Error when an image without a white goes to an integer class.
Encoded encode(const HostImage& image, const Metadata& metadata, Format format, PixelClass cls,
               const EncodeOptions& options = {});

// A freshly encoded file with the metadata in it. The picture's pixels are read where it
// wants_thumbnail alone. Adds to `lost` the names of what the format cannot hold.
Bytes with_metadata(Bytes file, Format format, const Metadata& metadata,
                    const PictureOfFile& picture, std::vector<std::string>& lost);

// The image in its class and channels in the file; what it clips and drops is in `out`.
HostImage ready_for(const HostImage& image, Format format, PixelClass cls, Encoded& out);
// Adds to `lost` the class of -d where the format holds fewer bits.
void name_lost_bits(const OutputType& written, const EncodeOptions& options,
                    std::vector<std::string>& lost);
// Adds to `lost` the names of what files of other formats say of how they are stored, and of axes.
void name_lost_storage(Format format, const Metadata& metadata, std::vector<std::string>& lost);

// The last step of `encode`: names what the format loses of the input's storage, and puts the
// metadata into the file.
void finish_encoded(Encoded& out, Format format, const Metadata& metadata,
                    const PictureOfFile& picture);

// Throws Error where `encode` would for images of this type and size, whatever their pixels are.
// named: the image has the channels of an EXR, each with its name.
void check_encodable(const ImageType& type, Size size, bool named, Format format, PixelClass cls,
                     const EncodeOptions& options);

// The rule of the outputs: the input's format and depth, unless asked otherwise. `input` is null
// for a source. `wanted` is from --format or the output's extension, `wanted_class` from -d.
OutputType output_type(const ImageInfo* input, const ImageType& result,
                       std::optional<Format> wanted = {},
                       std::optional<PixelClass> wanted_class = {});

}  // namespace impipe::io
