// JPEG: its header, and its row of the table of formats.
#include <algorithm>
#include <optional>
#include <string>

#include "core/kept_bytes.hpp"
#include "io/formats/by_module.hpp"
#include "io/formats/jpeg/jpeg_metadata.hpp"
#include "io/formats/jpeg/jpeg_scan.hpp"
#include "io/metadata/orientation.hpp"

namespace impipe::io {
namespace {

// Huffman's shortest code is one bit, and a block of 8x8 samples takes a code at least. Of a colour
// with the fewest samples that block covers the most pixels, and the others' may be left out.
// `components` is the frame header's list, three bytes each; `code` is the frame's marker.
void claim_jpeg(ImageInfo& info, int code, const std::string& components) {
  if (code > 0xc2) return;  // arithmetic codes have no such bound
  std::int64_t across = 1, down = 1, fewest_across = 4, fewest_down = 4;
  for (size_t i = 1; i < components.size(); i += 3) {
    const auto sampling = static_cast<std::int64_t>(big_at(components, i, 1));
    across = std::max(across, sampling >> 4);
    down = std::max(down, sampling & 15);
    fewest_across = std::clamp<std::int64_t>(sampling >> 4, 1, fewest_across);
    fewest_down = std::clamp<std::int64_t>(sampling & 15, 1, fewest_down);
  }
  const Size block{8 * across / fewest_across, 8 * down / fewest_down};
  info.min_bytes = whole_bytes(static_cast<double>(info.stored.pixels()) /
                               static_cast<double>(block.pixels()) / 8);
  info.min_why = "JPEG has at least a bit for " + to_string(block) + " pixels";
}

// The offset of the code of the next marker, found as libjpeg finds it: whatever lies between two
// segments, fill bytes and others, is passed over. Nothing at the end of the file.
std::optional<std::int64_t> next_jpeg_marker(const ByteSource& source, std::int64_t at) {
  constexpr std::int64_t piece = 4096;
  bool after_ff = false;
  while (true) {
    const std::string bytes = source.read_some(at, piece);
    if (bytes.empty()) return {};
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool ff = bytes[i] == '\xff';
      // FF 00 is no marker but a byte of data.
      if (after_ff && !ff && bytes[i] != '\0') return at + static_cast<std::int64_t>(i);
      after_ff = ff;
    }
    at += static_cast<std::int64_t>(bytes.size());
  }
}

// What libjpeg does not decode is no damage.
void check_jpeg_kind(int code, int bits) {
  constexpr int baseline = 0xc0, extended = 0xc1, progressive = 0xc2, arithmetic = 0xc9,
                arithmetic_progressive = 0xca;
  const bool lossless = code == 0xc3 || code == 0xc7 || code == 0xcb || code == 0xcf;
  const bool known = code == baseline || code == extended || code == progressive ||
                     code == arithmetic || code == arithmetic_progressive;
  if (!known) fail(lossless ? "lossless" : "hierarchical", " JPEG is not supported");
  if (bits != 8) fail("JPEG of ", bits, " bits is not supported");
}

ImageInfo read_header(const HeaderInput& input) {
  const ByteSource& source = input.source;
  constexpr std::string_view xmp_prefix{"http://ns.adobe.com/xap/1.0/\0", 29};
  ImageInfo info{.lossy = true};
  SaidOrientation said;
  bool ended = false;
  for (std::int64_t at = 2;;) {
    const auto marker = next_jpeg_marker(source, at);
    ended = !marker;
    if (ended) break;
    const auto code = static_cast<int>(big_at(source.read(*marker, 1), 0, 1));
    at = *marker + 1;
    if (code == start_of_scan || code == end_of_image || code == start_of_image) break;
    if (code == 0x01 || (code >= 0xd0 && code <= 0xd7)) continue;  // these have no segment
    const std::string size = source.read_some(at, 2);
    ended = size.size() < 2;
    if (ended) break;
    const auto length = static_cast<std::int64_t>(big_at(size, 0, 2));
    if (code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc) {
      const std::string frame = source.read(at + 2, 6);
      check_jpeg_kind(code, static_cast<int>(big_at(frame, 0, 1)));
      const auto components = static_cast<int>(big_at(frame, 5, 1));
      info.stored = size_of(big_at(frame, 3, 2), big_at(frame, 1, 2));
      info.type = type_of(PixelClass::uint8,
                          components == 1                        ? 1
                          : components == 4 && input.reading.ink ? 4
                                                                 : 3,
                          false);
      info.detail = depth_text(static_cast<int>(big_at(frame, 0, 1))) +
                    (components == 4 ? " CMYK" : "") + (code == 0xc2 ? ", progressive" : "");
      info.progressive = code == 0xc2;
      claim_jpeg(info, code, source.read(at + 8, 3 * std::int64_t{components}));
    }
    if (code == 0xe1) {
      const std::string body = source.read_some(at + 2, length - 2);
      if (body.starts_with("Exif")) said.hear_exif(body);
      if (body.starts_with(xmp_prefix)) said.hear_xmp(body);
    }
    at += length;
  }
  if (info.detail.empty()) {
    if (ended) source.read(source.size(), 1);  // throws: truncated
    fail("damaged JPEG: no frame header");
  }
  info.orientation = said.value();
  return info;
}

// Whether a device may decode the JPEG, which `out` has then. It would not turn it.
bool keep_coded(std::span<const std::byte> file, Decoded& out) {
  if (out.info.orientation != 1) return false;
  std::optional<CodedJpeg> coded = scan_jpeg(file);
  if (!coded || coded->form.size != out.info.stored) return false;
  if (coded->form.components != out.info.type.channels) return false;
  const auto keep = [](CodedJpeg* jpeg) {
    keep_bytes(std::move(jpeg->bytes));
    delete jpeg;
  };
  out.coded = std::shared_ptr<const CodedJpeg>(new CodedJpeg(std::move(*coded)), keep);
  out.image.type = out.info.type;
  return true;
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  if (input.options.keep_coded && keep_coded(input.file, out)) return std::move(out.image);
  if (input.options.shrink) out.info.shrink = input.options.shrink(out.info);
  return decode_by_module(input, out);
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded&) {
  EncodeOptions stored = input.options;
  stored.jpeg = jpeg_storage_for(input.metadata, input.options);
  return encode_with_options(image, input, stored);
}

}  // namespace

JpegStorage jpeg_storage_for(const Metadata& metadata, const EncodeOptions& options) {
  JpegStorage storage = metadata.jpeg.value_or(JpegStorage{});
  if (options.subsampling) {
    storage.across = (*options.subsampling)[0];
    storage.down = (*options.subsampling)[1];
  }
  return storage;
}

const FormatTraits jpeg_format{
    .format = Format::jpeg,
    .name = "JPEG",
    .extensions = "jpg jpeg jpe jfif",
    .module = main_module,
    .library = "libjpeg",
    .can = {Can::eight, Can::metadata},
    .longest_side = 65500,  // libjpeg's
    .lossy = true,
    .sniff = [](std::string_view head) { return head.starts_with("\xff\xd8\xff"); },
    .header = read_header,
    .decode = decode,
    .encode = encode,
    .read_metadata = read_jpeg_metadata,
    .with_metadata = with_jpeg_metadata,
};

}  // namespace impipe::io
