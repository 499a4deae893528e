// Reading and writing of files in memory as loops that `impipe-bench` can time.
#pragma once

#include <string>

#include "bench/naive/loops.hpp"

namespace impipe::bench {

using engine::Material, engine::Outcome;

// Encodes the image to a format named by its extension, or decodes what that gave (made at the
// first call). Metadata is none of it. Throws Error.
naive::Loop encode_loop(const std::string& extension);
naive::Loop decode_loop(const std::string& extension);

}  // namespace impipe::bench
