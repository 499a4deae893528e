// Palettes of few colours by median cut.
#pragma once

#include "core/volume.hpp"

namespace impipe {

// What is made of a page of three channels of uint8: each pixel's entry in the palette, counted
// from 0 (uint8, from 257 colours on uint16), or the pixels in the palette's colours.
enum class PaletteResult { index, image };
Volume palette_pages(int colours, PaletteResult result);
// A table of the palette: red, green and blue from 0 to 1.
Volume palette_table(int colours);

}  // namespace impipe
