// Pictures for measuring: the same in every run.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace impipe::engine {

// Soft waves, a disk with a hard rim and some noise, which depends on the seed. White is the
// class's largest value.
HostImage make_natural_image(PixelClass cls, int channels, Size size, std::uint32_t seed);

}  // namespace impipe::engine
