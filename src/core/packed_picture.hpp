// A picture in a lossless format as a device decodes or encodes it: what its file's header says of
// its samples, and its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace impipe {

// What pictures have in common that one launch decodes or encodes.
struct PackedForm {
  // zlib: RFC 1950 with deflate inside; lzw: TIFF's, most significant bit first; exr_rle: OpenEXR's
  // run lengths.
  enum class Packing : std::uint8_t { none, zlib, lzw, packbits, exr_rle };
  // What was done to a chunk's bytes before they were packed. differences: TIFF's predictor 2,
  // between samples of their own width. float_differences: TIFF's predictor 3. png: a filter byte
  // and its prediction a row. exr: even bytes before odd ones, then differences of bytes. pxr24:
  // differences of samples, then of each row all first bytes, the uppermost, before all second
  // ones.
  enum class Filter : std::uint8_t { none, differences, float_differences, png, exr, pxr24 };
  // Integers of a picture of singles become the nearest single.
  enum class Sample : std::uint8_t { integer, half, floating, signed_integer };
  // Samples of a chunk: pixel by pixel; a row of each channel, then the next row (EXR); or a chunk
  // has one channel, and the chunks of a channel follow each other.
  enum class Order : std::uint8_t { by_pixel, by_row, by_plane };
  // The last channel is alpha, which has a plane of its own. associated: colours are stored
  // multiplied by it.
  enum class Alpha : std::uint8_t { none, straight, associated };

  // Of the picture in planes, alpha included.
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  Alpha alpha = Alpha::none;
  Size size;

  Packing packing = Packing::none;
  Filter filter = Filter::none;
  Sample sample = Sample::integer;
  // Of a stored sample: 1, 2, 4, 8, 16, 32, and the upper 24 of a float where the filter is pxr24.
  // Rows begin on a byte.
  int bits = 8;
  bool big_endian = false;
  // 0 is white: the pixel is the largest value less the sample. Of the first sample of a pixel.
  bool inverted = false;
  bool palette = false;  // the one sample of a pixel is an index into PackedPicture::palette
  Order order = Order::by_pixel;
  // The channel of the picture that the k-th stored sample of a pixel belongs to, samples() long;
  // 0 of a palette.
  std::vector<std::uint8_t> channel_of;
  // By rows, samples of channels that the picture does not have (EXR): their bytes for each pixel
  // of a row, and as many of them as lie before each of the picture's samples; none where it is
  // empty.
  int carried = 0;
  std::vector<std::uint16_t> carried_before;
  // Pixels of a chunk. Chunks cover the picture row by row, the whole of one channel before the
  // next where order is by_plane. padded: those at the right and lower border are as large as the
  // others (tiles); otherwise they end with the picture (strips, EXR's blocks).
  Size chunk;
  bool padded = false;
  bool operator==(const PackedForm&) const = default;

  int samples() const { return palette ? 1 : channels; }  // of a pixel, as they are stored
  int colours() const { return channels - (alpha == Alpha::none ? 0 : 1); }
  std::int64_t chunks_across() const { return (size.width + chunk.width - 1) / chunk.width; }
  std::int64_t chunks_down() const { return (size.height + chunk.height - 1) / chunk.height; }
  std::int64_t chunks() const {
    return chunks_across() * chunks_down() * (order == Order::by_plane ? samples() : 1);
  }
  // Bytes of a row of a chunk of this width, one channel of it where order is by_row or by_plane;
  // without PNG's filter byte.
  std::int64_t row_bytes(std::int64_t width) const {
    return (width * bits * (order == Order::by_pixel ? samples() : 1) + 7) / 8;
  }
  // Bytes of a whole chunk before it is packed, PNG's filter bytes included.
  std::int64_t chunk_bytes() const {
    return chunk.height * (row_bytes(chunk.width) * (order == Order::by_row ? samples() : 1) +
                           chunk.width * carried + (filter == Filter::png ? 1 : 0));
  }
  // Bytes from chunk to chunk where a device has them unpacked. Words are read together with the
  // next one.
  std::int64_t chunk_step() const { return (chunk_bytes() + 15) / 16 * 16 + 16; }
};

// Whether samples of other channels lie in both alike, so that those of one go into the other.
inline bool carries_alike(const PackedForm& a, const PackedForm& b) {
  return a.size == b.size && a.chunk == b.chunk && a.channels == b.channels && a.bits == b.bits &&
         a.order == b.order && a.carried == b.carried && a.carried_before == b.carried_before;
}

// A picture to decode.
struct PackedPicture {
  PackedForm form;
  struct Chunk {
    std::int64_t begin = 0;  // into the parts, any byte
    std::int64_t bytes = 0;
    bool stored = false;  // the chunk is not packed though the form says so (EXR)
  };
  std::vector<Chunk> chunks;  // form.chunks() of them
  // The channels of a pixel of each index, the first in the lowest byte: 256 of them.
  std::vector<std::uint32_t> palette = {};
  // What holds the chunks, one part behind the other. It lies in the file's bytes, which stay, or
  // in `bytes`.
  std::vector<std::span<const std::byte>> parts;
  std::vector<std::byte> bytes;
  std::vector<std::span<const std::byte>> data() const {
    return parts.empty() ? std::vector<std::span<const std::byte>>{bytes} : parts;
  }
  std::int64_t data_bytes() const {
    std::int64_t all = 0;
    for (const auto& part : data()) all += static_cast<std::int64_t>(part.size());
    return all;
  }
};

// What tells apart the forms of pictures that are decoded or encoded together.
std::string to_string(const PackedForm& form);

// Bytes that TIFF's LZW makes of so many at most: a code of 12 bits of each, and one more whenever
// its table is full.
inline std::int64_t max_lzw_bytes(std::int64_t bytes) { return bytes + bytes / 2 + bytes / 1024; }
// Bytes that a device has for a picture's chunks when it packs them: deflated ones are possibly
// stored.
inline std::int64_t packed_room(const PackedForm& form) {
  const std::int64_t bytes = form.chunk_bytes();
  const bool is_lzw = form.packing == PackedForm::Packing::lzw;
  return form.chunks() * ((is_lzw ? max_lzw_bytes(bytes) : bytes + bytes / 1024) + 64);
}
// How hard a device looks for what a chunk repeats: Huffman codes alone, or copies too.
enum class DeflateEffort : std::uint8_t { codes, copies };

}  // namespace impipe
