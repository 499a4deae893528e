// Decoding of lossless pictures.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Launched with pictures of one form (LaunchValues::packed), and no spec. Outputs: the stack of
// images; a number for each, 0 where it was decoded. Any other: its image means nothing, and the
// picture is for the host's decoder. The form is one that core/unpacks.hpp knows; the program is
// the same for all of them.
Program unpacker(Dialect dialect);

}  // namespace impipe::jit
