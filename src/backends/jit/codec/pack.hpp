// Encoding of a picture's chunks as lossless formats have them.
#pragma once

#include "backends/jit/program/program.hpp"
#include "core/packed_picture.hpp"

namespace impipe::jit {

// Whether devices pack pictures of this form: packing none or zlib; logical pixels of 1 bit (one
// channel, no filter but PNG's), 8 or 16, uint8 of 8, uint16 of 16, single as floats or halves;
// float_differences of floats and halves alone, exr of no single bits; at most 65,535 chunks and
// less than 1 GiB a picture.
bool packs(const PackedForm& form);

// For forms that differ from this one in size, chunk, padded and channel_of at most. Throws
// std::logic_error where it is none that `packs` knows.
//
// Launched with a stack of images and LaunchValues::packing. Outputs: for each a plane of
// packed_room bytes, its chunks behind each other; for each 2 + chunks numbers: all bytes; one that
// is not 0 where the picture is left to the host, since a finite value is beyond what halves hold;
// the bytes of each chunk. A chunk of exr that zlib makes no smaller is stored without its filter:
// it has its bytes as they are. Launched with these two and no form: copies what is data into a
// plane, see CodedPlaces. The same pixels have the same bytes on every device. copies: of parts of
// 64 KB in which a sample of 8 KB says that they save a 32nd; the others have codes alone.
Program packer(Dialect dialect, const PackedForm& form, DeflateEffort effort);

}  // namespace impipe::jit
