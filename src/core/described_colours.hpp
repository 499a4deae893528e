// Colours that a file describes by numbers of its own instead of an ICC profile, as a PNG's gAMA,
// cHRM and cICP do.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/colour_profile.hpp"

namespace impipe {

struct DescribedColours {
  struct Chromaticity {
    double x = 0, y = 0;
  };
  Chromaticity white{0.3127, 0.3290};
  std::array<Chromaticity, 3> primaries{{{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}}};
  double gamma = 0;  // light is the value to this power; 0: sRGB's curve
};

// Profiles without bytes, the same object for equal names. Of these colours; nothing: sRGB.
std::shared_ptr<const ColourProfile> described_profile(
    const std::string& name, const std::optional<DescribedColours>& colours);
// Of colours that no ICC profile has.
std::shared_ptr<const ColourProfile> other_profile(const std::string& name);
// What such a profile was made of; nothing for others, and for sRGB.
std::optional<DescribedColours> described_colours(const ColourProfile& profile);

}  // namespace impipe
