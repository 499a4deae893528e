// Conversions between ICC profiles, by the module that has Little CMS.
#pragma once

#include "core/colour_map.hpp"

namespace impipe::io {

// Throws Error: a damaged profile, one of a space that pixels are not in, or no module.
ColourMap colour_map(const ColourRequest& request);

}  // namespace impipe::io
