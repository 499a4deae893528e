// The cards of a FITS header that say nothing of how pixels are stored.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/pixel_change.hpp"
#include "io/formats/format_traits.hpp"

namespace impipe::io {

inline constexpr std::size_t card_length = 80;

// Cards that are true of the result, each of 80 characters: what they say of the place of pixels on
// the sky (CRPIX, CD, PC, CDELT) follows the pixels. Names in `lost` what cannot.
std::vector<std::string> cards_after(const std::vector<std::string>& cards,
                                     const PixelChange& change, Lost& lost);

// One FITS of files that were written as FITS of one page each: a cube, with the cards of the
// first. Throws Error where they differ in size or class, and for colours.
Bytes join_fits_pages(std::span<const Bytes> pages);

}  // namespace impipe::io
