// What rows of the table of formats have in common.
#include "io/formats/format_traits.hpp"

namespace impipe::io {

bool FormatTraits::reads() const { return !header.is(header_not_read); }
bool FormatTraits::writes() const { return !encode.is(not_encoded); }

bool has_no_signature(std::string_view) { return false; }
ImageInfo header_not_read(const HeaderInput&) { fail("this format is not read"); }
HostImage not_decoded(const DecodeInput&, Decoded&) { fail("this format is not read"); }
Bytes not_encoded(HostImage&, const EncodeInput& input, Encoded&) {
  fail(name_of(input.format), " is not written");
}
MetadataRead no_metadata(const MetadataInput&) { return {}; }
Bytes lose_metadata(Bytes file, const Metadata& metadata, const PictureOfFile&, Lost& lost) {
  name_losses(metadata, true, lost);
  return file;
}
Bytes metadata_encoded(Bytes file, const Metadata&, const PictureOfFile&, Lost&) { return file; }

}  // namespace impipe::io
