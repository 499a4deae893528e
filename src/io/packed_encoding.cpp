// A format's own file around what a device has packed.
#include "io/packed_encoding.hpp"

#include "core/kept_bytes.hpp"
#include "io/module/module.hpp"
#include "io/module/module_call.hpp"

namespace impipe::io {

std::optional<PackedForm> packed_output(const ImageType& type, Size size, const Metadata& metadata,
                                        const OutputType& output, const EncodeOptions& options) {
  const FormatTraits& format = traits(output.format);
  const bool is_converted = type.cls != output.cls || type.white != class_max(type.cls);
  if (format.packed_form == nullptr || is_converted) return {};
  // No format has single bits beside an alpha.
  if (type.alpha && type.cls == PixelClass::logical) return {};
  if (wants_thumbnail(metadata)) return {};
  EncodeOptions stored = options;
  Encoded unused;
  return format.packed_form({type, size, metadata, options}, stored, unused);
}

Encoded encode_packed(std::span<const PackedChunk> chunks, const ImageType& type, Size size,
                      const Metadata& metadata, const OutputType& output,
                      const EncodeOptions& options) {
  Encoded out;
  const FormatTraits& format = traits(output.format);
  EncodeOptions stored = options;
  format.packed_form({type, size, metadata, options}, stored, out);
  constexpr size_t head = 4096, of_chunk = 24;
  size_t bytes = head + of_chunk * chunks.size();
  for (const PackedChunk& chunk : chunks) bytes += chunk.size();
  out.bytes = from_module([&] {
    return codec_module(format.module)
        .encode_packed(type, size, output.format, chunks, stored, kept_room(bytes));
  });
  const HostImage none(type, {1, 1});  // no pixels are read: see packed_output
  name_lost_bits(output, options, out.lost);
  finish_encoded(out, output.format, metadata, {size, none});
  return out;
}

}  // namespace impipe::io
