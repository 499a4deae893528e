// EXR's row of the table of formats.
#include <memory>
#include <string>

#include "io/formats/by_module.hpp"
#include "io/formats/exr/exr_form.hpp"
#include "io/formats/exr/exr_layout.hpp"
#include "io/formats/exr/exr_parts.hpp"

namespace impipe::io {
namespace {

// The picture of out.info, from an EXR that may have other parts.
HostImage decode(const DecodeInput& input, Decoded& out) {
  std::shared_ptr<const Bytes> part;
  if (out.info.pages > 1) part = std::make_shared<const Bytes>(exr_part(input.file, out.info.page));
  const std::span<const std::byte> bytes = part ? std::span<const std::byte>(*part) : input.file;
  HostImage image = decode_by_module({.file = bytes, .options = input.options}, out);
  ExrStorage storage = exr_layout(ByteSource(bytes), 0, out.info.named).storage;
  if (!input.options.metadata) storage.attributes.clear();
  MetadataRead read;
  std::erase_if(storage.attributes, [&](const ExrAttribute& attribute) {
    return !read.takes(attribute.value.size(), "EXR attribute '" + attribute.name + "'");
  });
  out.lost.insert(out.lost.end(), read.lost.begin(), read.lost.end());
  if (!storage.carried.empty() && !out.packed) {
    storage.carried.file = part ? part : std::make_shared<const Bytes>(bytes.begin(), bytes.end());
  }
  // A device that unpacks the picture finds out itself.
  if (image.type.alpha && !out.packed) storage.glows = unassociate_alpha(image);
  out.metadata.exr = std::move(storage);
  return image;
}

void name_header_losses(bool place, const std::string& attributes, Lost& lost) {
  if (place) lost.emplace_back("display window and pixel aspect ratio");
  if (!attributes.empty()) lost.push_back("EXR attributes (" + attributes + ")");
}

// How an image is stored, and what is lost of the input's header. planes: see exr_storage_for.
EncodeOptions stored_as(const PackedInput& image, const Planes& planes, PixelClass made_as,
                        Encoded& out) {
  const std::optional<ExrStorage>& exr = image.metadata.exr;
  const PixelChange& change = image.metadata.change;
  const ExrFloats floats = image.options.exr_floats;
  EncodeOptions stored = image.options;
  stored.exr = exr_storage_for(image.type, image.size, planes, made_as, exr, change, image.options);
  const bool was_whole = exr && exr->type == ExrType::whole && floats == ExrFloats::as_input;
  if (was_whole && stored.exr.type != ExrType::whole) out.widened = SampleType::uint32;
  if (!exr) return stored;
  const bool place = has_place(*exr) && !has_place(stored.exr) && !fills_display(*exr, change) &&
                     !windows_follow(*exr, change);
  name_header_losses(place, attributes_lost(*exr, stored.exr), out.lost);
  return stored;
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  const std::optional<ExrStorage>& exr = input.metadata.exr;
  if (image.type.alpha) image = associate_alpha(image, exr && exr->glows);
  if (input.options.exr_floats == ExrFloats::half) clip_to_half(image, out.clipped);
  Planes planes = image.planes;
  if (image.type.alpha) planes.push_back(image.alpha);
  const PackedInput picture{image.type, image.size(), input.metadata, input.options};
  return encode_with_options(image, input,
                             stored_as(picture, planes, input.original.type.cls, out));
}

// Where floats of 16 bits are asked for the host counts what they clip; a file like an EXR of such
// becomes one of 32 where they do not hold a value, which a device finds out.
std::optional<PackedForm> packed_form(const PackedInput& input, EncodeOptions& stored,
                                      Encoded& out) {
  const std::optional<ExrStorage>& exr = input.metadata.exr;
  if (input.options.exr_floats == ExrFloats::half) return {};
  if (exr && !(exr->other_parts.empty() && exr->tiles.empty())) return {};
  if (exr && !exr->carried.empty() && !has_size(*exr, input.size)) return {};
  if (input.options.compression == Compression::small) return {};
  stored = stored_as(input, {}, PixelClass::single, out);
  std::vector<std::string> names;
  ExrType channel = stored.exr.type;
  for (const ExrStorage::Named& named : stored.exr.named) {
    if (named.type != stored.exr.named.front().type) return {};
    names.push_back(named.name);
    channel = named.type;
  }
  if (names.empty()) {
    const std::string& layer = stored.exr.layer;
    if (input.type.channels == 3) {
      names = {layer + "R", layer + "G", layer + "B"};
    } else {
      names = {layer + stored.exr.gray};
    }
    if (input.type.alpha) names.push_back(layer + "A");
  }
  return exr_form(input.type, input.size, names, channel, stored.exr.compression,
                  stored.exr.carried);
}

void name_storage(const Metadata& metadata, Lost& lost) {
  if (!metadata.exr) return;
  const ExrStorage& exr = *metadata.exr;
  if (!exr.carried.empty()) lost.push_back("channels (" + names_of(exr.carried) + ")");
  if (!exr.other_parts.empty()) lost.push_back("parts (" + names_of_parts(exr) + ")");
  const bool place = has_place(exr) && !fills_display(exr, metadata.change);
  name_header_losses(place, attributes_lost(exr, {}), lost);
}

}  // namespace

const FormatTraits exr_format{
    .format = Format::exr,
    .name = "EXR",
    .extensions = "exr",
    .module = "impipe_codec_exr",
    .library = "OpenEXR",
    .can = {Can::floats, Can::alpha, Can::metadata, Can::write_pages},
    .pages = Pages::frames,
    .sniff = [](std::string_view head) { return head.starts_with("\x76\x2f\x31\x01"); },
    .header =
        [](const HeaderInput& input) {
          return exr_layout(input.source, input.page, input.reading.channels).info;
        },
    .decode = decode,
    .encode = encode,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
    .name_storage = name_storage,
    .packed_form = packed_form,
};

}  // namespace impipe::io
