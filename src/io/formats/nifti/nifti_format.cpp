// NIfTI's row of the table of formats: volumes of medical imaging, plain or in a gzip file
// (.nii.gz).
#include <algorithm>

#include "io/formats/by_module.hpp"
#include "io/formats/nifti/nifti.hpp"
#include "io/module/module_call.hpp"
#include "io/picture/value_window.hpp"

namespace impipe::io {
namespace {

bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b\x08"); }

// Up to so many bytes of what a gzip file holds, by its first ones; none where those are too few.
std::string unpacked(std::string_view head, std::int64_t most) {
  return from_module([&] { return codec_module(main_module).inflate(head, most - 1); });
}

// Another gzip file tells by the first four bytes that it holds none. Where tables of codes take
// all of `head` it can't be told here.
bool sniff(std::string_view head) {
  if (!is_gzip(head)) return is_nifti(head);
  const std::string begin = unpacked(head, 4);
  if (begin.empty()) return true;
  constexpr std::string_view sizes[] = {"\x5c\x01\0\0", "\0\0\x01\x5c", "\x1c\x02\0\0",
                                        "\0\0\x02\x1c"};
  return std::ranges::any_of(sizes, [&](std::string_view size) {
    return begin.starts_with(std::string_view(size.data(), 4));
  });
}

NiftiHeader header_of(const ByteSource& source) {
  constexpr std::int64_t enough = 1 << 12;
  const std::string head = source.read_some(0, enough);
  if (!is_gzip(head)) return nifti_header(head);
  std::string inside = unpacked(head, nifti_header_bytes);
  if (inside.empty()) inside = unpacked(head, 348);
  if (!is_nifti(inside)) fail("a gzip file that holds no NIfTI; gunzip it first");
  NiftiHeader out = nifti_header(inside);
  out.info.detail += ", gzip";
  out.info.min_bytes /= deflate_ratio;
  out.info.min_why = "gzip packs at most " + std::to_string(deflate_ratio) + " to 1";
  return out;
}

ImageInfo header(const HeaderInput& input) {
  ImageInfo info = header_of(input.source).info;
  info.page = input.page.value_or(0);
  choose_window(info, input.reading.window);
  return info;
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  HostImage image;
  if (is_gzip(text_of(input.file.first(3)))) {
    image = page_by_module(main_module, input.file, out.info, input.options.open_pages);
  } else {
    const NiftiHeader header = header_of(ByteSource(input.file));
    const std::byte* plane = input.file.data() + header.data + out.info.page * header.plane_bytes();
    image = nifti_plane(header, plane, *out.info.inexact, make_image);
  }
  return out.info.window ? through_window(image, *out.info.window) : std::move(image);
}

MetadataRead read_metadata(const MetadataInput& input) {
  const NiftiHeader header = header_of(ByteSource(input.file));
  MetadataRead out;
  if (header.pixel_width > 0 && header.pixel_height > 0) {
    constexpr double centimetre = 10;  // of millimetres
    const bool is_length = header.has_unit;
    out.metadata.resolution =
        Resolution{.x = centimetre / header.pixel_width,
                   .y = centimetre / header.pixel_height,
                   .unit = is_length ? Resolution::Unit::centimetre : Resolution::Unit::none};
  }
  if (!header.description.empty()) out.metadata.comments.push_back(header.description);
  if (header.has_place) out.lose("where its voxels lie (qform, sform)");
  return out;
}

}  // namespace

const FormatTraits nifti_format{
    .format = Format::nifti,
    .name = "NIfTI",
    .extensions = "nii",
    .can = {Can::eight, Can::sixteen, Can::floats, Can::alpha, Can::metadata, Can::numbers},
    .pages = Pages::several,
    .sniff = sniff,
    .header = header,
    .decode = decode,
    .encode = not_encoded,
    .read_metadata = read_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
