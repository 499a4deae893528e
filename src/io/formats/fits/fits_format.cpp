// FITS' row of the table of formats.
#include "io/formats/by_module.hpp"

namespace impipe::io {

const FormatTraits fits_format{
    .format = Format::fits,
    .name = "FITS",
    .extensions = "fits fit fts",
    .module = "impipe_codec_fits",
    .library = "cfitsio",
    .can = {Can::eight, Can::sixteen, Can::floats},
    .pages = Pages::several,
    .sniff = [](std::string_view head) { return head.starts_with("SIMPLE  =  "); },
    .header = header_by_module,
    .decode = decode_by_module,
    .encode = not_encoded,
    .read_metadata = metadata_by_module,
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
