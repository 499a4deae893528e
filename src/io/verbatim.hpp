// Pieces of a picture file that neither the pixels nor the metadata hold, carried as they are into
// a file of the same format: texts, comments, IPTC, resolution and the measure of colours.
#pragma once

#include "io/codec.hpp"

namespace impipe::io {

// The pieces of a PNG or JPEG file, one after the other; nothing of other formats. Damage ends
// them.
Bytes verbatim_pieces(std::span<const std::byte> file, Format format);

// The file, freshly encoded, with the pieces.
Bytes with_pieces(const Bytes& file, std::span<const std::byte> pieces, Format format);

}  // namespace impipe::io
