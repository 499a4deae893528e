// Work of the host on one page at a time: a page is made of one page, by itself.
#pragma once

#include <functional>

#include "core/image.hpp"
#include "core/volume.hpp"

namespace impipe {

struct PageOperation {
  std::function<ImageType(const ImageType&)> type;  // of the result
  std::function<Size(Size)> size;                   // of the result; none: the page's
  // The planes of the result, whose memory the caller has made, of those of a page. Alpha is made
  // by the caller, too: `alpha` where the result has one, else it is dropped.
  std::function<void(const HostImage& page, HostImage& result, ThreadPool& pool)> make;
  double bytes_a_pixel = 0;  // of scratch memory, for each of the page's pixels
};
Volume each_page(PageOperation operation);

// A table of each page instead, one number behind the other.
struct PageTable {
  std::vector<std::string> columns;
  std::function<std::vector<double>(const HostImage& page, ThreadPool& pool)> make;
};
Volume table_of_pages(PageTable table);

// A pixel in the plane's own units.
double pixel_at(const Plane& plane, std::int64_t x, std::int64_t y);
// A row of a plane as doubles.
void load_row(const Plane& plane, std::int64_t y, double* values);
// Values as a row of a plane: rounded half up (logical: 1 from a half on) and saturated, NaN is 0.
void store_row(const double* values, Plane& plane, std::int64_t y);

enum class BlockValue { mean, max, min, median, sum, std };
// Blocks of an image become one pixel each. rows, columns: of a block, the first of which begins at
// the upper left; the last ones have fewer. mean, max, min and median keep class and white and are
// rounded once; sum and std are single. Alpha is averaged.
Volume block_pages(BlockValue value, std::int64_t rows, std::int64_t columns);

// What is made of a page of three channels of uint8: each pixel's entry in the palette, counted
// from 0 (uint8, from 257 colours on uint16), or the pixels in the palette's colours.
enum class PaletteResult { index, image };
// A palette of few colours by median cut.
Volume palette_pages(int colours, PaletteResult result);
// A table of the palette: red, green and blue from 0 to 1.
Volume palette_table(int colours);

// The angle by which the lines of a page of text are rotated, in degrees, the argument of imrotate
// that levels them: of the multiples of `step` up to
// `range` that at which neighbouring lines of pixels differ most in how many of them are ink, of
// equal ones the smallest, and 0 where there is no ink. ink: a logical plane.
double deskew_angle(const Plane& ink, double range, double step);

}  // namespace impipe
