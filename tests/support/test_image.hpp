// Images for tests: random but the same each time, and their comparison.
#pragma once

#include <cstdint>
#include <string>

#include "core/image.hpp"
#include "support/reference/image.hpp"

namespace impipe::test {

// Shapes, ramps and noise with many equal neighbours; single has values below 0 and above 1.
HostImage test_image(PixelClass cls, int channels, Size size, std::uint64_t seed);
// The same with NaN and infinities among its values.
HostImage test_image_with_specials(int channels, Size size, std::uint64_t seed);

// How a result differs from what is expected: its type, size, or the first value that is farther
// off than `tolerance`. Empty when it does not. Up to the part `allowed` of the values may be
// farther off, by 1 at most: integers at rounding ties, logical ones at equal strengths. NaN equals
// NaN.
std::string difference(const reference::Image& expected, const HostImage& got, double tolerance = 0,
                       double allowed = 0);
// Bit for bit, pixels and alpha.
std::string difference(const HostImage& expected, const HostImage& got);

std::string describe(const HostImage& image);

}  // namespace impipe::test
