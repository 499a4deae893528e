// A row of the table of formats: how a format is recognised and named, what it can hold, and the
// functions that read and write it. Each format's row lies in its folder (docs/adding-a-codec.md).
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/picture/decoding.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

// A function that no row may leave out: a row without it does not compile.
template <class Signature>
class Required;
template <class Result, class... Arguments>
class Required<Result(Arguments...)> {
 public:
  using Function = Result (*)(Arguments...);
  template <std::convertible_to<Function> Given>
  constexpr Required(Given function) : function_(function) {}  // NOLINT: a row names functions
  Required(std::nullptr_t) = delete;
  Result operator()(Arguments... arguments) const {
    return function_(std::forward<Arguments>(arguments)...);
  }
  bool is(Function function) const { return function_ == function; }

 private:
  Function function_;
};

struct HeaderInput {
  Format format;
  const ByteSource& source;
  std::span<const std::byte> memory;  // the whole file, where it is in memory; else empty
  std::optional<int> page;            // from 0; none: the first that holds a picture
  const Reading& reading;
  // Of a TIFF that is read page after page: used where it is set, and set; or null.
  std::shared_ptr<const TiffPages>* tiff_pages = nullptr;
};

struct DecodeInput {
  std::span<const std::byte> file;
  const DecodeOptions& options;
};

// Rows [y, y_end) of a picture that its header says `info` of.
struct RowsInput {
  std::span<const std::byte> file;
  const ImageInfo& info;
  const Reading& reading;
  std::int64_t y = 0, y_end = 0;
};

struct MetadataInput {
  std::span<const std::byte> file;
  const ImageInfo& info;
  std::span<const int> pages_together;  // see DecodeOptions
  std::span<const PageAxis> axes;       // of these, in the file that they go into
};

// An image on its way into a file: `encode` in codec.hpp has brought it into the class of the file.
struct EncodeInput {
  const HostImage& original;  // before that
  const Metadata& metadata;
  Format format;
  PixelClass cls;
  const EncodeOptions& options;
};

// An image whose pixels a device packs; its class is the file's.
struct PackedInput {
  const ImageType& type;
  Size size;
  const Metadata& metadata;
  const EncodeOptions& options;
};

// What a format can hold, and what else is true of it.
enum class Can {
  one_bit,
  eight,
  sixteen,
  floats,
  any_channels,  // not 1 or 3 alone
  alpha,
  metadata,  // carries EXIF, ICC or XMP; EXR, its own attributes
  numbers,   // has integers without a white: arrays of numbers
  write_pages,
  write_stream,  // pictures of one kind one after the other, as many as there may be
};
class Abilities {
 public:
  constexpr Abilities(std::initializer_list<Can> all) {
    for (const Can one : all) bits_ |= 1u << static_cast<int>(one);
  }
  constexpr bool operator[](Can one) const { return (bits_ >> static_cast<int>(one) & 1) != 0; }

 private:
  unsigned bits_ = 0;
};

// How many pictures a file holds. frames: of one kind, each of which may need those before it;
// like_frames, and alike of what has no times: what is known of one holds for all.
enum class Pages { one, frames, like_frames, alike, several };

struct FormatTraits {
  Format format;
  std::string_view name;        // as in messages: "PNG"
  std::string_view extensions;  // separated by spaces, the usual one first: "jpg jpeg"
  std::string_view module;      // that decodes and encodes it; empty: the program itself
  std::string_view library;     // "libpng"; empty for the program itself
  Abilities can;
  std::int64_t longest_side = 0;  // pixels; 0: no limit of its own
  bool lossy = false;             // always written so: JPEG, Radiance HDR
  Pages pages = Pages::one;       // that are read

  // Whether a file that begins with these bytes (sniffed_bytes, or fewer) is one.
  Required<bool(std::string_view head)> sniff;
  // What probe says. Throws Error.
  Required<ImageInfo(const HeaderInput&)> header;
  // The image of out.info, upright or not; sets what of out.metadata says how the file stores it.
  // Throws Error.
  Required<HostImage(const DecodeInput&, Decoded& out)> decode;
  // The file; names in out.lost what is lost but for metadata. Throws Error.
  Required<Bytes(HostImage& image, const EncodeInput&, Encoded& out)> encode;
  // What the file says beside its pixels.
  Required<MetadataRead(const MetadataInput&)> read_metadata;
  // The encoded file with the metadata in it; names in `lost` those that it cannot hold.
  Required<Bytes(Bytes file, const Metadata&, const PictureOfFile&, Lost& lost)> with_metadata;

  // Of formats whose rows are read in any order at no cost of others: what `decode` makes of them.
  // Throws Error.
  HostImage (*read_rows)(const RowsInput&) = nullptr;

  // Names what the file said of how it is stored and what files of other formats do not.
  void (*name_storage)(const Metadata&, Lost& lost) = nullptr;

  // Of formats that devices encode: the form that such an image is packed in, and in `stored` what
  // `encode` tells its codec; nothing where the pixels are needed on the host. Decoding is
  // CodecModule::scan.
  std::optional<PackedForm> (*packed_form)(const PackedInput&, EncodeOptions& stored,
                                           Encoded& out) = nullptr;

  bool has_frames() const { return pages == Pages::frames || pages == Pages::like_frames; }
  bool reads() const;
  bool writes() const;
};
#define IMPIPE_FORMAT(name) extern const FormatTraits name##_format;
#include "io/picture/format_list.inc"
#undef IMPIPE_FORMAT
// The row of a format.
const FormatTraits& traits(Format format);
inline std::string_view name_of(Format format) { return traits(format).name; }
// Whether each of several pictures in such a file can be read, and written.
inline bool reads_pages(Format format) { return traits(format).pages != Pages::one; }
inline bool writes_pages(Format format) { return traits(format).can[Can::write_pages]; }
// Whether pictures of one kind follow each other in such a file, as many as there may be.
inline bool writes_stream(Format format) { return traits(format).can[Can::write_stream]; }

// For rows of formats that lack something.
bool has_no_signature(std::string_view head);
ImageInfo header_not_read(const HeaderInput& input);
HostImage not_decoded(const DecodeInput& input, Decoded& out);
Bytes not_encoded(HostImage& image, const EncodeInput& input, Encoded& out);
// There is none, or `decode` has read it.
MetadataRead no_metadata(const MetadataInput& input);
// Names all of it as lost.
Bytes lose_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture, Lost& lost);
// `encode` has put it into the file and named what is lost.
Bytes metadata_encoded(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                       Lost& lost);

}  // namespace impipe::io
