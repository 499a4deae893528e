// Which colours the numbers of a file mean.
#pragma once

#include <memory>

#include "core/colour_profile.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// By its ICC profile, else by what it says otherwise: code points of H.273, a PNG's sRGB, gAMA and
// cHRM, EXIF's ColorSpace. A PNG's cICP comes before its profile. Null: it says nothing.
std::shared_ptr<const ColourProfile> profile_of(const Metadata& metadata);

}  // namespace impipe::io
