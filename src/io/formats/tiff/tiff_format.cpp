// TIFF: what its header claims, and its row of the table of formats.
#include <sys/mman.h>

#include <cerrno>
#include <cmath>
#include <string>

#include "io/formats/by_module.hpp"
#include "io/formats/tiff/tiff_blocks.hpp"
#include "io/formats/tiff/tiff_form.hpp"
#include "io/formats/tiff/tiff_header.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/formats/tiff/tiff_tiles.hpp"
#include "io/metadata/orientation.hpp"
#include "io/picture/written_samples.hpp"

namespace impipe::io {
namespace {

struct Packing {
  std::uint64_t compression;
  const char* name;
  // Bytes of samples in a byte of the file, at most; 0 where there is no such bound: arithmetic
  // codes, WebP, LERC, JBIG and the logs, which are missing here but for JPEG.
  double most = 0;
  bool predicts = false;  // samples may be differences
};
constexpr Packing tiff_packings[] = {
    {1, "no compression", 1},
    // A code of 12 bits for 2560 white pixels (ITU-T T.4, table 3).
    {2, "CCITT", 2560.0 / 12},
    {3, "CCITT group 3"},
    {4, "CCITT group 4"},
    // A code has at most 12 bits and stands for at most 3837 bytes (TIFF 6.0, section 13).
    {5, "LZW", 2560, true},
    {6, "JPEG"},
    {7, "JPEG"},
    {8, "deflate", deflate_ratio, true},
    {32946, "deflate", deflate_ratio, true},  // its elder number
    {32773, "PackBits", 64},                  // two bytes for 128 (TIFF 6.0, section 9)
    // A repetition of 273 bytes takes 14 binary decisions of at least 0.022 bits.
    {34925, "LZMA", 8192, true},
    {50000, "Zstandard", 32768, true},  // 4 bytes for 128 KiB (RFC 8878, 3.1.1.2)
};

const Packing* packing_of(const TiffLayout& l) {
  for (const Packing& packing : tiff_packings) {
    if (packing.compression == l.compression) return &packing;
  }
  return nullptr;
}

// What the file must have at least for what the directory claims. Counted is the image, or one
// tile where that is larger: it is unpacked as a whole.
void claim_tiff(ImageInfo& info, const TiffLayout& l) {
  const bool tile = info.tile.pixels() > l.size.pixels();
  const auto width = static_cast<double>(tile ? info.tile.width : l.size.width);
  const auto height = static_cast<double>(tile ? info.tile.height : l.size.height);
  // Subsampled YCbCr has little more than one sample a pixel.
  const double samples = l.is_ycbcr() ? 1 : static_cast<double>(l.samples);
  const double bytes = height * std::ceil(width * samples * static_cast<double>(l.bits) / 8);
  if (l.compression == 3 || l.compression == 4) {
    // A row like the one above is one bit (ITU-T T.6, vertical mode).
    info.min_bytes = whole_bytes(height / 8);
    info.min_why = "CCITT has at least a bit for a row";
  } else if (l.compression == 6 || l.compression == 7) {
    // See jpeg_header; the coarsest sampling there is.
    info.min_bytes = whole_bytes(width * height / (8 * 32 * 32));
    info.min_why = "JPEG has at least a bit for 32x32 pixels";
  }
  const Packing* packing = packing_of(l);
  if (packing == nullptr || packing->most == 0) return;
  info.min_bytes = whole_bytes(bytes / packing->most);
  if (packing->most == 1) return;
  info.min_why = std::string(packing->name) + " packs at most " +
                 std::to_string(static_cast<int>(packing->most)) + ":1";
}

// ", LZW, predictor 2", and as a TIFF made from this one is to have it.
std::string read_packing(const TiffHeader& header, ImageInfo& info) {
  const Packing* packing = packing_of(header.layout);
  TiffPacking& tiff = info.tiff.emplace();
  tiff.compression = static_cast<int>(header.layout.compression);
  if (packing != nullptr && packing->predicts) tiff.predictor = static_cast<int>(header.predictor);
  const std::string name = info.blocks          ? std::string(name_of(*info.blocks))
                           : packing == nullptr ? "compression " + std::to_string(tiff.compression)
                                                : packing->name;
  return ", " + name + (tiff.predictor > 1 ? ", predictor " + std::to_string(tiff.predictor) : "");
}

SampleType samples_of(const TiffLayout& l) {
  const int bytes = static_cast<int>(l.bits / 8);
  if (l.numbers == tiff_float) return bytes == 8 ? SampleType::float64 : SampleType::of_class;
  const bool is_signed = l.numbers == tiff_signed;
  return is_signed || bytes > 2 ? sample_type_of(is_signed, bytes) : SampleType::of_class;
}

ImageInfo info_of(const TiffHeader& header, const Reading& reading) {
  const TiffLayout& l = header.layout;
  ImageInfo info;
  info.type = image_type_of(l);
  if (l.is_cmyk() && reading.ink) info.type.channels = 4;
  info.samples = samples_of(l);
  info.stored = l.size;
  SaidOrientation said;
  if (header.says_orientation) said.exif = l.orientation;
  said.hear_xmp(header.xmp);
  info.orientation = said.value();
  info.pages = header.pages;
  info.axes = header.axes;
  info.measured = header.measured;
  info.blocks = format_of_blocks(l);
  info.lossy = l.compression == 7 && !l.is_gray();
  info.detail =
      depth_text(static_cast<int>(l.bits), l.numbers == tiff_float) +
      (l.numbers == tiff_signed ? " signed"
       : l.is_palette()         ? " palette"
       : l.is_cmyk()            ? " CMYK"
       : l.is_ycbcr()           ? " YCbCr"
                                : "") +
      read_packing(header, info) +
      (header.series > 1 ? ", " + std::to_string(header.series) + " series (OME-XML)" : "");
  const auto usable = [](Size size) {
    return size.width >= 0 && size.height >= 0 && size.width <= max_side && size.height <= max_side;
  };
  Size tile = l.tile;
  // All slices of a deep tile.
  if (header.planes.count > 1 && usable({0, l.tile_depth})) tile.height *= l.tile_depth;
  if (!usable(tile)) fail("damaged TIFF: tiles of ", to_string(tile));
  if (!usable(l.size)) return info;  // the caller says so
  info.tile = tile;
  claim_tiff(info, l);
  return info;
}

// What is known of the pages is used, and set where it is not.
ImageInfo read_header(const HeaderInput& input) {
  std::shared_ptr<const TiffPages>* known = input.tiff_pages;
  std::shared_ptr<const TiffPages> pages = known == nullptr ? nullptr : *known;
  if (!pages) pages = std::make_shared<const TiffPages>(find_tiff_pages(input.source));
  if (known != nullptr && pages->count > 1) *known = pages;
  return info_of(read_tiff(input.source, input.page.value_or(0), pages.get()), input.reading);
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  const bool blocks = out.info.blocks && !input.options.by_opencv;
  return blocks ? decode_blocks(input.file, out.info) : decode_by_module(input, out);
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  stored.samples = samples_for(image, input.metadata, input.options, out);
  set_tiff_storage(input.metadata, stored);
  if (stored.tiff_storage < TiffStorage::tiles) return encode_with_options(image, input, stored);
  TiledTiff tiled(
      {image.type, image.size(), input.original.type.white != 0, input.metadata, stored}, [] {
        OpenFile file(memfd_create("tiles", MFD_CLOEXEC));
        if (file.get() < 0) throw system_error(errno);
        return file;
      });
  tiled.write(image);
  Bytes bytes;
  tiled.finish(
      image,
      [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); },
      out.lost);
  return bytes;
}

// In the packing of the input, as `encode` has it, or in deflate.
std::optional<PackedForm> packed_form(const PackedInput& input, EncodeOptions& stored, Encoded&) {
  const bool is_small = input.options.compression == Compression::small;
  const SampleType samples = wanted_samples(input.type, input.metadata, input.options);
  const bool is_tiled = input.options.tiff_storage >= TiffStorage::tiles;
  if (is_small || is_tiled || samples != SampleType::of_class) return {};
  set_tiff_storage(input.metadata, stored);
  const bool is_float = input.type.cls == PixelClass::single;
  const TiffPacking packing = stored.tiff.value_or(TiffPacking{.predictor = is_float ? 1 : 2});
  const bool predicts = packing.predictor > 1 && input.type.cls != PixelClass::logical;
  auto form = tiff_form(input.type, input.size, packing.compression,
                        !predicts  ? 1
                        : is_float ? 3
                                   : 2);
  if (form) form->big_endian = stored.big_endian_tiff;
  return form;
}

}  // namespace

const FormatTraits tiff_format{
    .format = Format::tiff,
    .name = "TIFF",
    .extensions = "tif tiff",
    .module = main_module,
    .library = "libtiff",
    .can = {Can::one_bit, Can::eight, Can::sixteen, Can::floats, Can::any_channels, Can::alpha,
            Can::metadata, Can::write_pages},
    .pages = Pages::several,
    .sniff =
        [](std::string_view head) {
          using namespace std::string_view_literals;
          const std::string_view order = head.substr(0, 4);  // 42, or 43 of a BigTIFF
          return order == "II*\0"sv || order == "MM\0*"sv || order == "II+\0"sv ||
                 order == "MM\0+"sv;
        },
    .header = read_header,
    .decode = decode,
    .encode = encode,
    .read_metadata = read_tiff_metadata,
    .with_metadata = with_tiff_metadata,
    .packed_form = packed_form,
};

}  // namespace impipe::io
