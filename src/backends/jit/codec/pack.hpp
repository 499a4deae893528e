// Encoding of a picture's chunks as lossless formats have them.
#pragma once

#include "backends/jit/program/program.hpp"
#include "core/unpacks.hpp"

namespace impipe::jit {

using impipe::packs;

// For forms that differ from this one in size, chunk, padded and channel_of at most. Throws
// std::logic_error where it is none that `packs` knows.
//
// Launched with a stack of images, one of their alpha where the form has it, and
// LaunchValues::packing. Outputs: for each a plane of
// packed_room bytes, its chunks behind each other; for each 2 + chunks numbers: all bytes; one that
// is not 0 where the picture is left to the host, since a finite value is beyond what halves hold;
// the bytes of each chunk. A chunk of exr that zlib makes no smaller is stored without its filter:
// it has its bytes as they are. Launched with these two and no form: copies what is data into a
// plane, see CodedPlaces. The same pixels have the same bytes on every device. copies: of parts of
// 64 KB in which a sample of 8 KB says that they save a 32nd; the others have codes alone.
Program packer(Dialect dialect, const PackedForm& form, DeflateEffort effort);

}  // namespace impipe::jit
