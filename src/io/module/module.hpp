// Finds and opens the codec modules at the first picture that needs it.
#pragma once

#include "io/module/codec_module.hpp"

namespace impipe::io {

// The module for a format that is not built in. Throws Error naming the places looked at when there
// is none, or one of another version.
const CodecModule& codec_module(Format format);

// Whether the module reads the header too, and reads and writes the metadata.
bool module_reads_header(Format format);

}  // namespace impipe::io
