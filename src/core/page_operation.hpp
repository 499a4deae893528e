// Work of the host on one page at a time: a page is made of one page, by itself.
#pragma once

#include <functional>

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

}  // namespace impipe
