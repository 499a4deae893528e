// The codec's own headers around what a device has encoded.
#include "io/jpeg_encoding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/kept_bytes.hpp"
#include "io/formats/jpeg/jpeg_scan.hpp"

namespace impipe::io {
namespace {

constexpr std::int64_t max_pixels = 65500;  // a side, of libjpeg's
constexpr int baseline = 0xc0, start_of_scan = 0xda;

int byte_at(const Bytes& bytes, size_t at) { return std::to_integer<int>(bytes[at]); }

// A file of this kind, of a small black image: its headers are those of any.
Bytes small_file(const ImageType& type, const Metadata& metadata, const EncodeOptions& options) {
  constexpr Size small = {16, 16};
  HostImage image(type, small);
  for (Plane& plane : image.planes) {
    for (std::int64_t y = 0; y < small.height; ++y) {
      std::memset(plane.row(y), 0, static_cast<size_t>(plane.row_bytes()));
    }
  }
  Metadata kind;
  kind.jpeg = metadata.jpeg;
  return encode(image, kind, Format::jpeg, PixelClass::uint8, options).bytes;
}

// The headers up to the data, for a picture of that size.
Bytes headers_of(Bytes file, Size size) {
  for (size_t at = 2; at + 4 <= file.size();) {
    const int marker = byte_at(file, at + 1);
    const auto bytes = static_cast<size_t>(byte_at(file, at + 2) << 8 | byte_at(file, at + 3)) + 2;
    if (marker == baseline) {
      const std::int64_t sides[] = {size.height, size.width};
      for (size_t i = 0; i < 2; ++i) {
        file[at + 5 + 2 * i] = static_cast<std::byte>(sides[i] >> 8);
        file[at + 6 + 2 * i] = static_cast<std::byte>(sides[i] & 255);
      }
    }
    at += bytes;
    if (marker != start_of_scan) continue;
    file.resize(at);
    break;
  }
  return file;
}

// Behind a byte of ones there is a zero, so that it is no marker.
void append_stuffed(Bytes& file, std::span<const std::byte> data) {
  while (!data.empty()) {
    const void* found = std::memchr(data.data(), 0xff, data.size());
    const size_t run =
        found == nullptr
            ? data.size()
            : static_cast<size_t>(static_cast<const std::byte*>(found) - data.data()) + 1;
    file.insert(file.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(run));
    if (found != nullptr) file.push_back(std::byte{0});
    data = data.subspan(run);
  }
}

}  // namespace

bool may_be_coded(const Metadata& metadata, const EncodeOptions& options) {
  if (options.lossless || options.compression == Compression::small) return false;
  return !wants_thumbnail(metadata) && !metadata.exr && !metadata.dpx && !metadata.y4m &&
         metadata.fits_cards.empty();
}

std::shared_ptr<const CodedJpeg> coded_output(const ImageType& type, Size size,
                                              const Metadata& metadata,
                                              const EncodeOptions& options) {
  if (type.cls != PixelClass::uint8 || type.white != class_max(type.cls) || type.alpha) return {};
  if (type.channels != 1 && type.channels != 3) return {};
  if (size.width > max_pixels || size.height > max_pixels) return {};
  if (!may_be_coded(metadata, options)) return {};
  auto coded = scan_jpeg(small_file(type, metadata, options));
  if (!coded) return {};
  coded->form.size = size;
  coded->segments.clear();
  coded->bytes.clear();
  if (coded->form.blocks() > jpeg_max_blocks_encoded) return {};
  return std::make_shared<const CodedJpeg>(std::move(*coded));
}

Encoded encode_coded(std::span<const std::byte> data, const ImageType& type, Size size,
                     const Metadata& metadata, const EncodeOptions& options) {
  const Bytes headers = headers_of(small_file(type, metadata, options), size);
  Bytes file = kept_room(headers.size() + data.size() + data.size() / 64 + 16);
  file.insert(file.end(), headers.begin(), headers.end());
  append_stuffed(file, data);
  constexpr std::byte end_of_image[] = {std::byte{0xff}, std::byte{0xd9}};
  file.insert(file.end(), std::begin(end_of_image), std::end(end_of_image));
  Encoded out;
  const HostImage none(type, {1, 1});  // no pixels are read: see may_be_coded
  name_lost_bits({Format::jpeg, PixelClass::uint8}, options, out.lost);
  out.bytes = with_metadata(std::move(file), Format::jpeg, metadata, {size, none}, out.lost);
  return out;
}

}  // namespace impipe::io
