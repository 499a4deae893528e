// Conversions between colour spaces, by the modules that have Little CMS and OpenColorIO.
#pragma once

#include "core/colour_map.hpp"

namespace impipe::io {

// Throws Error: a damaged profile, one of a space that pixels are not in, or no module.
ColourMap colour_map(const ColourRequest& request);
// Throws Error: no such configuration or colour space, or no module.
std::vector<ColourMap> space_maps(const SpaceRequest& request);
std::vector<std::string> space_files(const SpaceRequest& request);

}  // namespace impipe::io
