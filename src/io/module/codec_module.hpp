// The border between the program and a codec module, a shared library that holds what needs a
// picture library (and so costs start-up time). Both are built together: the version string must be
// equal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/colour_map.hpp"
#include "core/image.hpp"
#include "io/picture/decoding.hpp"
#include "io/picture/encoding.hpp"
#include "io/picture/picture_rows.hpp"

namespace impipe::io {

// Makes the image to decode into. The program's own function, so that planes come from its
// allocator and the module needs none.
using MakeImage = HostImage (*)(const ImageType& type, Size size);

// Calls body(i) once for each i in [0, count), also on threads of the program that have nothing
// else to do; returns when all are done. What a call throws is thrown on.
using ForEach = void (*)(std::int64_t count, const std::function<void(std::int64_t)>& body);

// Any function may be called from several threads at once. Errors carry the reason alone.
class CodecModule {
 public:
  virtual ~CodecModule() = default;

  // Called once, before the others: for modules that spread the chunks of one picture over threads.
  virtual void set_for_each(ForEach) const {}

  // Decodes pixels as stored: the orientation is not applied. `info` is what probe said.
  virtual HostImage decode(std::span<const std::byte> bytes, const ImageInfo& info,
                           MakeImage make_image) const {
    return open_pages(bytes, info, make_image)->decode(info);
  }
  // For formats whose pages need those before them; null: each page is decoded by itself.
  virtual std::unique_ptr<PageDecoder> open_pages(std::span<const std::byte>, const ImageInfo&,
                                                  MakeImage) const {
    return nullptr;
  }
  // The image is of a class that the format holds, its white that of the class (or none).
  virtual Bytes encode(const HostImage&, Format, const EncodeOptions&) const { return {}; }
  // The picture as its file packs it, without a copy; nothing where no device unpacks such, or
  // something is wrong with it, which `decode` says.
  virtual std::optional<PackedPicture> scan(std::span<const std::byte>, const ImageInfo&) const {
    return {};
  }
  // The file around a picture that a device has packed, chunk by chunk in the form of
  // FormatTraits::packed_form. room: an empty buffer, for the file to be made in.
  virtual Bytes encode_packed(const ImageType&, Size, Format, std::span<const PackedChunk>,
                              const EncodeOptions&, Bytes /*room*/) const {
    return {};
  }
  // What probe says of a format whose headers its library reads, and what there is of EXIF, ICC
  // and XMP of a page, each as it is in the file, beside what the library knows to be left out.
  virtual ImageInfo probe(std::span<const std::byte>, int) const { return {}; }
  virtual MetadataRead read_metadata(std::span<const std::byte>, int) const { return {}; }
  // Rows of a file of so many bytes, which stays open meanwhile; null: see io::open_rows.
  virtual std::unique_ptr<PictureRows> open_rows(int /*file*/, std::int64_t /*bytes*/,
                                                 const ImageInfo&, MakeImage) const {
    return nullptr;
  }
  // A file to write, empty and open as long as the sink; `type` as it is stored.
  virtual std::unique_ptr<PictureSink> make_rows(int /*file*/, const ImageType&, Size,
                                                 Size /*tile*/, const EncodeOptions&) const {
    return nullptr;
  }
  // The same of JPEGs and FITS in memory; the file stays there meanwhile.
  virtual std::unique_ptr<PictureRows> open_rows(std::span<const std::byte> /*file*/,
                                                 const ImageInfo&, MakeImage) const {
    return nullptr;
  }
  virtual std::unique_ptr<PictureSink> make_rows(const ImageType&, Size,
                                                 const EncodeOptions&) const {
    return nullptr;
  }
  // A conversion between ICC profiles.
  virtual ColourMap colour_map(const ColourRequest&) const { return {}; }
  // Conversions between colour spaces of a configuration.
  virtual std::vector<ColourMap> colour_maps(const SpaceRequest&) const { return {}; }
  // The files that its tables for these are read from.
  virtual std::vector<std::string> colour_files(const SpaceRequest&) const { return {}; }
  // What zlib data of a text chunk, or a gzip file, hold; nothing when they are damaged. Of more
  // than `most` bytes the first most + 1.
  virtual std::string inflate(std::string_view, std::int64_t) const { return {}; }
  // Zlib data of this, for chunks of text.
  virtual std::string deflate(std::string_view) const { return {}; }
};

// The one symbol of the module: null when `version` is not the module's own.
using OpenCodec = const CodecModule* (*)(const char* version);
inline constexpr const char* open_codec_symbol = "impipe_open_codec";

// What must agree between the program and the module; IMPIPE_VERSION comes from the build.
inline constexpr const char* codec_version = IMPIPE_VERSION " codec 22";

}  // namespace impipe::io
