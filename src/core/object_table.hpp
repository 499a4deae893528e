// What regionprops says of the objects of an image of labels: whole numbers that devices sum
// (primitive Objects), and the rows that the host makes of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/plan.hpp"

namespace impipe {

// The names of a row's numbers.
std::vector<std::string> object_columns(bool intensities);
std::vector<std::string> columns_of(const ObjectTable& table);

// A record of the primitive Objects: whole numbers, those that may not fit a double exactly as
// their quotient by 2^32 and the rest.
namespace object_record {
enum Place {
  pixels,
  left,  // the first column and row, and those after the last
  right,
  top,
  bottom,
  quarters,  // four times the Euler number
  even,      // steps of the outer outlines along rows and columns; diagonal ones; corners
  odd,
  corners,
  hull,  // pixel centres in the hull of the pixels' sides
  x,     // sums over the pixels; two numbers each
  y = x + 2,
  xx = y + 2,
  yy = xx + 2,
  xy = yy + 2,
  size = xy + 2,
  // With intensities, codes:
  least = size,
  largest,
  sum,
  sum_x = sum + 2,
  sum_y = sum_x + 2,
  size_with_intensities = sum_y + 2,
};
// Record 0 is no object's: how many pixels have labels above 0 that are no record's number, and
// whether the device had too little memory for the hulls. Then the host measures the image.
enum Fault { unnumbered, no_memory };
constexpr std::int64_t length(bool intensities) {
  return intensities ? size_with_intensities : size;
}
}  // namespace object_record

// How many records labels take whose largest that is, without record 0: none where they are no
// numbers to count by.
std::int64_t objects_numbered(double largest, Size size);

// The records of objects 0 to count; what there is no pixel of has zeros.
// intensities: codes of the labels' size, or null.
std::vector<double> object_records(const Plane& labels, const Plane* intensities,
                                   std::int64_t count);

bool has_faults(std::span<const double> records);
// The rows of measure_objects from records without faults.
std::vector<double> object_rows(std::span<const double> records, bool intensities,
                                const ObjectScale& scale);

// [objects][columns], in the order of the labels. labels: whole numbers, of
// any class; those that are not above 0 are background. intensities: of that size, or null. Boxes
// are in pixels whatever their sides are, and begin half a pixel before their first one's number.
std::vector<double> measure_objects(const Plane& labels, const Plane* intensities,
                                    const ObjectScale& scale);

}  // namespace impipe
