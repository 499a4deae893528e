// Formats that a codec module reads and writes: what their rows have in common.
#include "io/formats/by_module.hpp"

#include <algorithm>

#include "io/metadata/exif.hpp"
#include "io/metadata/xmp.hpp"
#include "io/module/module_call.hpp"
#include "io/picture/wide_samples.hpp"

namespace impipe::io {
namespace {

HostImage make_image(const ImageType& type, Size size) { return HostImage(type, size); }

HostImage decode_page(const CodecModule& module, std::span<const std::byte> file,
                      const ImageInfo& info, OpenPages* pages) {
  if (pages == nullptr || info.pages == 1) return module.decode(file, info, make_image);
  if (!pages->decoder) pages->decoder = module.open_pages(file, info, make_image);
  if (!pages->decoder) return module.decode(file, info, make_image);
  try {
    return pages->decoder->decode(info);
  } catch (...) {
    pages->decoder.reset();
    throw;
  }
}

// Whether a device is to unpack the picture, which then stays as it is in the file.
bool keeps_packed(const DecodeInput& input, Decoded& out) {
  const ImageInfo& info = out.info;
  const bool is_plain = info.pages == 1 && info.orientation <= 1 && !info.type.alpha &&
                        info.samples == SampleType::of_class;
  if (!input.options.keep_packed || !is_plain) return false;
  const CodecModule& module = codec_module(traits(info.format).module);
  auto packed = from_module([&] { return module.scan(input.file, info); });
  if (!packed || !input.options.keep_packed(packed->form)) return false;
  out.packed = std::make_shared<const PackedPicture>(std::move(*packed));
  out.image.type = info.type;
  return true;
}

// Whether integers of 16 bits are others after they were stored in so many bits.
bool loses_bits(const HostImage& image, int bits) {
  const auto changes = [&](std::uint16_t value) {
    std::uint16_t again[] = {narrowed(value, bits)};
    widen(again, bits);
    return again[0] != value;
  };
  const auto loses = [&](const Plane& plane) {
    for (std::int64_t y = 0; y < image.size().height; ++y) {
      const auto* row = plane.row_as<std::uint16_t>(y);
      if (std::any_of(row, row + image.size().width, changes)) return true;
    }
    return false;
  };
  return (image.type.alpha && loses(image.alpha)) ||
         std::any_of(image.planes.begin(), image.planes.end(), loses);
}

}  // namespace

ImageInfo header_by_module(Format format, const HeaderInput& input) {
  std::string bytes;
  std::span<const std::byte> file = input.memory;
  if (file.empty()) {
    bytes = input.source.read(0, input.source.size());
    file = std::as_bytes(std::span(bytes));
  }
  const CodecModule& module = codec_module(traits(format).module);
  ImageInfo info = from_module([&] { return module.probe(file, input.page.value_or(0)); });
  info.format = format;
  return info;
}

void decode_by_module(const DecodeInput& input, Decoded& out) {
  if (keeps_packed(input, out)) return;
  std::string_view module = traits(out.info.format).module;
  const bool by_opencv = input.options.by_opencv && module == main_module;
  if (by_opencv) module = opencv_module;
  OpenPages* pages = by_opencv ? nullptr : input.options.open_pages;
  out.image =
      from_module([&] { return decode_page(codec_module(module), input.file, out.info, pages); });
}

Bytes encoded_by_module(const HostImage& image, Format format, const EncodeOptions& options) {
  const CodecModule& module = codec_module(traits(format).module);
  return from_module([&] { return module.encode(image, format, options); });
}

void encode_with_metadata(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  stored.metadata = metadata_of_module(input.metadata, input.format, image, out.lost);
  out.bytes = encoded_by_module(image, input.format, stored);
}

MetadataRead metadata_by_module(std::span<const std::byte> file, const ImageInfo& info,
                                std::span<const int>) {
  MetadataRead out = codec_module(traits(info.format).module).read_metadata(file, info.page);
  Metadata& m = out.metadata;
  if (!m.exif.empty() && is_exif(text_of(m.exif))) {
    m.exif = bytes_of_text(upright_exif(std::string(text_of(m.exif))));
    if (const auto said = exif_resolution(text_of(m.exif))) m.resolution = said;
  } else if (!m.exif.empty()) {
    m.exif.clear();
    out.lost.emplace_back("EXIF that cannot be read");
  }
  m.xmp = upright_xmp(std::move(m.xmp));
  return out;
}

void set_wide_bits(EncodeOptions& stored, const HostImage& image, const EncodeInput& input,
                   std::vector<std::string>& lost) {
  if (input.cls != PixelClass::uint16) return;
  const int bits = stored.avif_bits = input.metadata.avif_bits == 10 ? 10 : 12;
  if (!loses_bits(image, bits)) return;
  if (input.options.lossless) {
    fail(std::string(name_of(input.format)) + " of " + std::to_string(bits) +
         " bits cannot hold these 16-bit pixels without loss");
  }
  lost.push_back("the lowest " + std::to_string(16 - bits) + " of 16 bits");
}

}  // namespace impipe::io
