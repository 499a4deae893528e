// The programs that decode and encode pictures on the device.
#pragma once

#include "backends/jit/program/program.hpp"
#include "core/unpacks.hpp"

namespace impipe::jit {

// Decodes JPEGs, bit for bit as libjpeg-turbo does.
// Launched with pictures of one form (LaunchValues::jpegs), and no spec. Outputs: the stack of
// images; a number for each, 0 where it was decoded. Any other: its image means nothing, and the
// picture is damaged or such that libjpeg-turbo decodes it differently on different processors.
Program jpeg_decoder(Dialect dialect);

// Encodes a JPEG's entropy-coded data, bit for bit as libjpeg-turbo does.
// Launched with a stack of images of bytes and, as LaunchValues::jpegs, the tables of what each is
// to become, all of one form. Outputs: for each a plane of jpeg_room bytes, of zeros at the end;
// for each how many of them are the data, without stuffed zeros, and a number that is not 0 where
// there is no room for them. Launched with these two, without jpegs: copies what is data into a
// plane, see CodedPlaces.
Program jpeg_encoder(Dialect dialect);

// Decodes lossless pictures.
// Launched with pictures of one form (LaunchValues::packed), and no spec. Outputs: the stack of
// images; two numbers for each; where the form has alpha, the stack of its planes. The first number
// is 0 where the picture was decoded; otherwise its image means nothing, and the picture is for the
// host's decoder. The second is not 0 where colours that are not 0 lie under an associated alpha of
// 0. The form is one that core/unpacks.hpp knows; the program is the same for all of them.
Program unpacker(Dialect dialect);

// Encodes a picture's chunks as lossless formats have them, for forms that differ from this one in
// size, chunk, padded and channel_of at most. Throws std::logic_error where it is none that `packs`
// knows.
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
