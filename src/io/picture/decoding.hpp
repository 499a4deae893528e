// How a picture is decoded, and what becomes of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/coded_jpeg.hpp"
#include "core/image.hpp"
#include "core/packed_picture.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"
#include "io/picture/ycbcr.hpp"

namespace impipe::io {

// A file of which most pages need those before them, as frames of an animation do. Its bytes stay
// meanwhile; used by one thread at a time. Errors carry the reason alone.
class PageDecoder {
 public:
  virtual ~PageDecoder() = default;
  // Any page of the file. Going on behind the last one costs least.
  virtual HostImage decode(const ImageInfo& info) = 0;
};

// What is known of a file that is read page after page, once its first page was read.
struct OpenPages {
  std::unique_ptr<PageDecoder> decoder;
  std::optional<ImageInfo> frame;         // of an animation, whose frames are alike
  std::shared_ptr<const TiffPages> tiff;  // of a TIFF
};

struct DecodeOptions {
  // More pixels than this is an error, found before anything is allocated.
  std::int64_t max_pixels = std::int64_t{1} << 30;
  bool metadata = true;  // false: leave Decoded::metadata empty (--strip)
  bool profile = false;  // the image's type has its ICC profile
  // From 0. Without it, a file of several pages is an error.
  std::optional<int> page;
  // Of a file that is read page after page: what its pages leave for those that follow.
  OpenPages* open_pages = nullptr;
  // The pages that go into one file, ascending, `page` among them; empty: it goes into one alone.
  // What metadata say of pages is made true of those.
  std::span<const int> pages_together = {};
  std::span<const PageAxis> axes = {};  // along which these lie in their file; none: not known
  Reading reading;
  YcbcrMatrix matrix = YcbcrMatrix::bt601;  // of colours that do not say theirs: Y4M
  // Of JPEGs: how many pixels of each side are read as one: 1, 2, 4 or 8. None: 1. See
  // `shrunk`; `info` is of what it was read from.
  std::function<int(const ImageInfo&)> shrink;
  // OpenCV decodes PNG, JPEG, TIFF and WebP, each whole, as a second opinion on their pixels.
  bool by_opencv = false;
  // JPEGs that a device may decode stay as they are: see Decoded::coded.
  bool keep_coded = false;
  // Asked once the form of a lossless picture is known: where a device decodes such, it stays
  // packed. See Decoded::packed.
  std::function<bool(const PackedForm&)> keep_packed;
};

struct Decoded {
  HostImage image;
  // Where it was asked for, and this is a JPEG that a device may decode: then `image` has a type,
  // and no pixels.
  std::shared_ptr<const CodedJpeg> coded;
  // The same of lossless formats; it lies in the file's bytes.
  std::shared_ptr<const PackedPicture> packed;
  Metadata metadata;
  ImageInfo info;
  // What the file holds beside these, for messages: "further pictures (MPF)".
  std::vector<std::string> lost;
};
}  // namespace impipe::io
