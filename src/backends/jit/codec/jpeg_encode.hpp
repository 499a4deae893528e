// Encoding of a JPEG's entropy-coded data, bit for bit as libjpeg-turbo does it.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Launched with an image of bytes and, as LaunchValues::jpegs, the form and tables of what it is to
// become. Outputs: a plane of jpeg_room bytes, of zeros at the end; how many of them are the data,
// without stuffed zeros, and a number that is not 0 where there is no room for them.
// Launched without jpegs: copies the beginning of such a plane to a smaller one.
Program jpeg_encoder(Dialect dialect);

}  // namespace impipe::jit
