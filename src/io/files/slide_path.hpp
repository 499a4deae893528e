// Which paths name a whole-slide image, or one of the pictures in it.
#pragma once

#include <filesystem>
#include <optional>

#include "io/formats/slide/slide_note.hpp"

namespace impipe::io {

// "x.ndpi" by its ending; "x.ndpi/2" and "x.svs/label", which lead through a regular file, by
// that. Nothing for other paths, whether or not there is such a file.
std::optional<SlidePart> slide_of(const std::filesystem::path& path);

}  // namespace impipe::io
