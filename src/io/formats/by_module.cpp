// Formats that a codec module reads and writes: what their rows have in common.
#include "io/formats/by_module.hpp"

#include <algorithm>

#include "io/metadata/exif.hpp"
#include "io/metadata/xmp.hpp"
#include "io/module/module_call.hpp"

namespace impipe::io {
namespace {

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
  // Pages of a TIFF lie in the file as single pictures do.
  const bool is_alone = info.pages == 1 || info.format == Format::tiff;
  const bool is_plain = is_alone && info.orientation <= 1;
  if (!input.options.keep_packed || !is_plain) return false;
  const CodecModule& module = codec_module(traits(info.format).module);
  auto packed = from_module([&] { return module.scan(input.file, info); });
  if (!packed || !input.options.keep_packed(packed->form)) return false;
  out.packed = std::make_shared<const PackedPicture>(std::move(*packed));
  return true;
}

}  // namespace

ImageInfo header_by_module(const HeaderInput& input) {
  std::string bytes;
  std::span<const std::byte> file = input.memory;
  if (file.empty()) {
    bytes = input.source.read(0, input.source.size());
    file = std::as_bytes(std::span(bytes));
  }
  const CodecModule& module = codec_module(traits(input.format).module);
  return from_module([&] { return module.probe(file, input.page.value_or(0)); });
}

HostImage decode_by_module(const DecodeInput& input, Decoded& out) {
  if (keeps_packed(input, out)) {
    HostImage none;
    none.type = out.info.type;
    return none;
  }
  std::string_view module = traits(out.info.format).module;
  const bool by_opencv = input.options.by_opencv && module == main_module;
  if (by_opencv) module = opencv_module;
  OpenPages* pages = by_opencv ? nullptr : input.options.open_pages;
  return page_by_module(module, input.file, out.info, pages);
}

HostImage page_by_module(std::string_view module, std::span<const std::byte> file,
                         const ImageInfo& info, OpenPages* pages) {
  return from_module([&] { return decode_page(codec_module(module), file, info, pages); });
}

HostImage rows_by_module(const RowsInput& input) {
  const CodecModule& module = codec_module(traits(input.info.format).module);
  return from_module([&] {
    return module.open_rows(input.file, input.info, make_image)->read(input.y, input.y_end);
  });
}

Bytes encode_by_module(HostImage& image, const EncodeInput& input, Encoded&) {
  return encode_with_options(image, input, input.options);
}

Bytes encode_with_options(const HostImage& image, const EncodeInput& input,
                          const EncodeOptions& options) {
  const CodecModule& module = codec_module(traits(input.format).module);
  return from_module([&] { return module.encode(image, input.format, options); });
}

Bytes encode_with_metadata(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  stored.metadata = metadata_of_module(input.metadata, input.format, image, out.lost);
  return encode_with_options(image, input, stored);
}

MetadataRead metadata_by_module(const MetadataInput& input) {
  const CodecModule& module = codec_module(traits(input.info.format).module);
  MetadataRead out = module.read_metadata(input.file, input.info.page);
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

}  // namespace impipe::io
