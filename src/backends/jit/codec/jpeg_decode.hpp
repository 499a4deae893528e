// Decoding of JPEGs, bit for bit as libjpeg-turbo does it.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Launched with pictures of one form (LaunchValues::jpegs), and no spec. Outputs: the stack of
// images; a number for each, 0 where it was decoded. Any other: its image means nothing, and the
// picture is damaged or such that libjpeg-turbo decodes it differently on different processors.
Program jpeg_decoder(Dialect dialect);

}  // namespace impipe::jit
