// Encoding of a JPEG's entropy-coded data, bit for bit as libjpeg-turbo does it.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Launched with a stack of images of bytes and, as LaunchValues::jpegs, the tables of what each is
// to become, all of one form. Outputs: for each a plane of jpeg_room bytes, of zeros at the end;
// for each how many of them are the data, without stuffed zeros, and a number that is not 0 where
// there is no room for them. Launched with these two, without jpegs: copies what is data into a
// plane, see CodedPlaces.
Program jpeg_encoder(Dialect dialect);

}  // namespace impipe::jit
