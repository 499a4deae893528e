// Decoding of lossless pictures.
#pragma once

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// Launched with pictures of one form (LaunchValues::packed), and no spec. Outputs: the stack of
// images; two numbers for each; where the form has alpha, the stack of its planes. The first number
// is 0 where the picture was decoded; otherwise its image means nothing, and the picture is for the
// host's decoder. The second is not 0 where colours that are not 0 lie under an associated alpha of
// 0. The form is one that core/unpacks.hpp knows; the program is
// the same for all of them.
Program unpacker(Dialect dialect);

}  // namespace impipe::jit
