// Strips and tiles go to the codec of their format one by one, and into their place in the image.
#include "io/formats/tiff/tiff_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "io/bytes/byte_source.hpp"
#include "io/bytes/tiff_fields.hpp"
#include "io/formats/format_traits.hpp"
#include "io/module/module.hpp"
#include "io/module/module_call.hpp"

namespace impipe::io {
namespace {

constexpr std::uint16_t rows_per_strip = 278;

// The strips or tiles of a directory, in rows, of all colours or (planar) one colour after the
// other.
class Blocks {
 public:
  Blocks(std::span<const std::byte> file, const TiffHeader& header) : file_(file) {
    const ByteSource source(file);
    order_ = tiff_order(source);
    const TiffDirectory directory = read_fields(source, order_, header.directory, [](auto tag) {
      return tag == strip_offsets || tag == rows_per_strip || tag == strip_byte_counts ||
             tag == tile_offsets || tag == tile_byte_counts;
    });
    const TiffLayout& l = header.layout;
    tiled_ = l.tile.pixels() > 0;
    side_ = l.tile;
    if (!tiled_) {
      const TiffField* rows = field_of(directory.fields, rows_per_strip);
      const auto height = static_cast<std::uint64_t>(l.size.height);
      const std::uint64_t all = rows == nullptr ? height : number_of(*rows, order_);
      side_ = {l.size.width, static_cast<std::int64_t>(std::clamp<std::uint64_t>(all, 1, height))};
    }
    across_ = (l.size.width + side_.width - 1) / side_.width;
    down_ = (l.size.height + side_.height - 1) / side_.height;
    const TiffField* at = field_of(directory.fields, tiled_ ? tile_offsets : strip_offsets);
    const TiffField* bytes =
        field_of(directory.fields, tiled_ ? tile_byte_counts : strip_byte_counts);
    const auto wanted =
        static_cast<std::uint64_t>(across_ * down_) * (l.planar == 2 ? l.samples : 1);
    if (at == nullptr || bytes == nullptr || at->count < wanted || bytes->count < wanted) {
      fail("damaged TIFF: it has fewer strips or tiles than its size needs");
    }
    at_ = *at;
    bytes_ = *bytes;
  }

  std::int64_t across() const { return across_; }
  std::int64_t down() const { return down_; }
  Size side() const { return side_; }
  bool tiled() const { return tiled_; }
  std::span<const std::byte> operator[](std::int64_t index) const {
    const std::uint64_t at = number_of(at_, order_, static_cast<std::uint64_t>(index)),
                        bytes = number_of(bytes_, order_, static_cast<std::uint64_t>(index));
    if (at > file_.size() || bytes > file_.size() - at) {
      fail("truncated TIFF: a strip or tile ends behind the file");
    }
    return file_.subspan(at, bytes);
  }

 private:
  std::span<const std::byte> file_;
  TiffOrder order_;
  TiffField at_, bytes_;
  bool tiled_ = false;
  Size side_;
  std::int64_t across_ = 0, down_ = 0;
};

// One of them, of this type, size and depth of samples.
HostImage decode_block(std::span<const std::byte> block, Format format, const ImageType& type,
                       Size size, std::uint64_t bits) {
  const FormatTraits& codec = traits(format);
  const std::string name(codec.name);
  if (!codec.sniff(text_of(block))) fail("damaged TIFF: a strip or tile is no ", name);
  const ImageInfo info = codec.header({format, ByteSource(block), block, {}, {}});
  // `detail` begins with the depth of samples.
  if (!(info.type == type) || !(info.stored == size) || info.pages != 1 ||
      !info.detail.starts_with(std::to_string(bits) + "-bit")) {
    fail("damaged TIFF: its header says ", to_string(size), ", ", to_string(type), " of ", bits,
         " bits, a strip or tile is a ", name, " of ", to_string(info.stored), ", ",
         to_string(info.type), ", ", info.detail);
  }
  const CodecModule& module = codec_module(codec.module);
  return from_module([&] { return module.decode(block, info, make_image); });
}

void copy_block(const Plane& from, Plane& to, std::int64_t x, std::int64_t y, PixelClass cls) {
  const std::int64_t rows = std::min(from.size().height, to.size().height - y);
  const std::int64_t width = std::min(from.size().width, to.size().width - x);
  const std::int64_t pixel = bytes_of(cls);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::memcpy(to.row(y + r) + x * pixel, from.row(r), static_cast<size_t>(width * pixel));
  }
}

}  // namespace

std::optional<Format> format_of_blocks(const TiffLayout& l) {
  const bool plain = (l.photometric == tiff_black_is_zero || l.photometric == tiff_rgb) &&
                     (l.bits == 8 || l.bits == 16) && l.numbers == tiff_unsigned && l.depth == 1 &&
                     std::ranges::find(l.extra, tiff_associated_alpha) == l.extra.end();
  if (!plain) return {};
  switch (l.compression) {
    case 33005:
    case 34712: return Format::jp2;
    case 34933: return Format::png;
    case 50002:
    case 52546: return Format::jxl;
    default: return {};
  }
}

HostImage decode_blocks(std::span<const std::byte> file, const ImageInfo& info) {
  const TiffHeader header = read_tiff(ByteSource(file), info.page, info.tiff_pages.get());
  const TiffLayout& l = header.layout;
  const Blocks blocks(file, header);
  const bool apart = l.planar == 2;
  ImageType type = info.type;
  if (apart) {
    type.channels = 1;
    type.alpha = false;
  }
  HostImage out(info.type, info.stored);
  std::int64_t index = 0;
  for (std::uint64_t sample = 0; sample < (apart ? l.samples : 1); ++sample) {
    for (std::int64_t y = 0; y < l.size.height; y += blocks.side().height) {
      for (std::int64_t x = 0; x < l.size.width; x += blocks.side().width) {
        Size size = blocks.side();
        if (!blocks.tiled()) size.height = std::min(size.height, l.size.height - y);
        HostImage block = decode_block(blocks[index++], *info.blocks, type, size, l.bits);
        if (block.type.alpha) block.planes.push_back(block.alpha);
        for (size_t k = 0; k < block.planes.size(); ++k) {
          const size_t to = k + sample;
          copy_block(block.planes[k], to < out.planes.size() ? out.planes[to] : out.alpha, x, y,
                     type.cls);
        }
      }
    }
  }
  return out;
}

}  // namespace impipe::io
