// The cards of a FITS header that say nothing of how pixels are stored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/pixel_change.hpp"
#include "io/formats/format_traits.hpp"

namespace impipe::io {

inline constexpr std::size_t card_length = 80;

// Cards that are true of the result, each of 80 characters: what they say of the place of pixels on
// the sky (CRPIX, CD, PC, CDELT) follows the pixels. Names in `lost` what cannot.
std::vector<std::string> cards_after(const std::vector<std::string>& cards,
                                     const PixelChange& change, Lost& lost);

// The letter of an axis of pages by its CTYPE: t, z, c; 0 where that says nothing known.
inline char letter_of_type(std::string_view type) {
  if (type.starts_with("TIME") || type == "T") return 't';
  if (type.starts_with("STOKES") || type == "C") return 'c';
  return type == "Z" || type == "DEPTH" ? 'z' : '\0';
}
// The letter, where no axis has it yet, else another: z, or one of no known axis.
inline char free_letter(char wanted, std::string_view taken) {
  if (wanted != 0 && taken.find(wanted) == taken.npos) return wanted;
  constexpr std::string_view others = "zpqruvw";
  return others[others.find_first_not_of(taken)];
}
// What a header says of an axis, from 1, that is none of FITS' own world coordinates.
std::vector<std::string> cards_of_axis(int number, const MeasuredAxis& axis, double first_pixel,
                                       double step);
// Whether cards have world coordinates.
bool has_coordinates(const std::vector<std::string>& cards);
// Cards of which those of the axes of pages are true of these. Adds those that are missing.
std::vector<std::string> cards_of_pages(std::vector<std::string> cards, const FileAxes& file);

// One FITS of files that were written as FITS of one page each: an array with their axes, with the
// cards of the first. lost: gets the names of what it cannot say of them. Throws Error where they
// differ in size or class, and for colours.
Bytes join_fits_pages(std::span<const Bytes> pages, const FileAxes& file, Lost& lost);

}  // namespace impipe::io
